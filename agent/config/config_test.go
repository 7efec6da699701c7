package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"roomgate/drivers"
)

// lampOptions has each shape that options may have.
type lampOptions struct {
	Line      string         `yaml:"line"`
	Intensity int            `yaml:"intensity"`
	Frequency float64        `yaml:"frequency"`
	Address   uint16         `yaml:"address"`
	Hold      time.Duration  `yaml:"hold"`
	Invert    bool           `yaml:"invert"`
	Password  drivers.Secret `yaml:"password"`
	Colors    []string       `yaml:"colors"`
	Limits    *lampLimits    `yaml:"limits"`
	Place     `yaml:",inline"`
}

type lampLimits struct {
	Low  int `yaml:"low"`
	High int `yaml:"high"`
}

// Place is exported so that it can be inlined.
type Place struct {
	Wall string `yaml:"wall"`
}

func (o *lampOptions) Check() error {
	if o.Intensity > 100 {
		return &drivers.FieldError{Field: "intensity", Problem: "is out of range: want a number from 0 to 100 %"}
	}
	return nil
}

func (o *lampOptions) Open(context.Context, drivers.Buses) (drivers.Driver, error) {
	return nil, drivers.ErrNoLine
}

func lamps() []drivers.Kind {
	return []drivers.Kind{
		{Name: "lamp", Type: drivers.TypeLight, Options: func() drivers.Options { return &lampOptions{Intensity: 80} }},
		{Name: "lamp-fan", Type: drivers.TypeFan, Options: func() drivers.Options { return &lampOptions{} }},
	}
}

const space = `gateway: {id: g}
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01
    name: Aurora
    devices:
      - id: aurora-light
        type: light
        driver: lamp
        options:
`

func TestParseFillsEverything(t *testing.T) {
	c, err := Parse("g.yaml", []byte(space+`          line: L1
          frequency: 1000
          address: 0x48
          hold: 1m30s
          invert: yes
          password: "0042"
          colors: ["#ff0000", blue]
          limits: {low: 5}
          wall: north
store: {max_size: 64 MiB}
http:
cloud:
  url:
`), lamps())
	if err != nil {
		t.Fatal(err)
	}
	want := &lampOptions{Line: "L1", Intensity: 80, Frequency: 1000, Address: 0x48, Hold: 90 * time.Second, Invert: true,
		Password: "0042", Colors: []string{"#ff0000", "blue"}, Limits: &lampLimits{Low: 5}, Place: Place{Wall: "north"}}
	d := c.Spaces[0].Devices[0]
	if diff := cmp.Diff(want, d.Options); diff != "" {
		t.Error(diff)
	}
	d.Options = nil
	wantDevice := Device{ID: "aurora-light", Type: "light", Driver: "lamp", Poll: 5 * time.Second,
		Timeout: 2 * time.Second, Alert: Alert{16, 28, 0.5}, Enabled: true}
	if diff := cmp.Diff(wantDevice, d); diff != "" {
		t.Error(diff)
	}
	if c.Store.MaxSize != 64<<20 || c.HTTP.Listen != ":8080" || c.Cloud.Acks != AcksBackend || !c.Spaces[0].Enabled {
		t.Errorf("defaults: %+v", c)
	}
}

func TestSettingsLieOverTheFile(t *testing.T) {
	c, err := Parse("g.yaml", []byte("http:\n  listen: :1\n"), nil,
		Setting{"gateway.id", "env", "ROOMGATE_GATEWAY"}, Setting{"gateway.id", "flag", "--gateway"},
		Setting{"cloud.rate", "5", "--rate"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Gateway.ID != "flag" || c.Cloud.Rate != 5 {
		t.Errorf("got %+v %+v", c.Gateway, c.Cloud)
	}
	want := map[string]Origin{"gateway.id": {Name: "--gateway"}, "http.listen": {"g.yaml", 2, 11}, "cloud.rate": {Name: "--rate"}}
	for key, o := range want {
		if got, ok := c.Origin(key); got != o || !ok {
			t.Errorf("origin of %s: %v, %v", key, got, ok)
		}
	}
	if _, ok := c.Origin("data"); ok {
		t.Error("a default has an origin")
	}
}

func TestSettingsAreChecked(t *testing.T) {
	_, err := Parse("g.yaml", []byte("gateway: {id: g}"), nil, Setting{"http.listen", "8080", "--listen"},
		Setting{"cloud.rate", "fast", "--rate"}, Setting{"cloud.uri", "", "--cloud"}, Setting{"data.x", "", "--data"})
	want := `--rate: cloud.rate is "fast": want a number
--cloud: there is no setting "cloud.uri"
--data: there is no setting "data.x"
--listen: http.listen is "8080": want HOST:PORT, as 127.0.0.1:1883 or :8080`
	if diff := cmp.Diff(want, firstMessage(err)); diff != "" {
		t.Error(diff)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.yaml")
	if _, err := Load(path, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	os.WriteFile(path, []byte("gateway: {id: g}\n"), 0o600)
	if c, err := Load(path, nil); err != nil || c.Gateway.ID != "g" {
		t.Errorf("got %v, %v", c, err)
	}
	os.WriteFile(path, []byte(strings.Repeat("#\n", maxFile)), 0o600)
	if _, err := Load(path, nil); !strings.Contains(firstMessage(err), "is larger than 1048576 bytes") {
		t.Errorf("too large: %v", err)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "5": 5, "7 B": 7, "2KiB": 2048, "64 MiB": 64 << 20, "1024 GiB": 1 << 40} {
		var s, again Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
		if err := again.UnmarshalText([]byte(s.String())); err != nil || again != s {
			t.Errorf("%s printed as %s", text, s)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5 MiB", "1025 GiB", "9223372036854775807 KiB", "5 MB"} {
		if err := new(Size).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// message is the text of an error, "" for none.
func firstMessage(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(space + "          line: L1\n"))
	f.Add([]byte("a: &x [*x]\n? {b: 1}\n: !!int x\n---\n"))
	f.Add([]byte("spaces: [[], {devices: [{driver: lamp, options: [1]}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f.yaml", data, lamps())
		if err == nil {
			if c.Gateway.ID == "" || c.Data == "" {
				t.Fatalf("taken without an id: %+v", c)
			}
			return
		}
		var list *Errors
		if !errors.As(err, &list) || len(list.Problems) == 0 {
			t.Fatalf("not a list of problems: %v", err)
		}
		for _, p := range list.Problems {
			if p.Message == "" || p.File == "" {
				t.Fatalf("a problem without words or place: %+v", p)
			}
		}
	})
}
