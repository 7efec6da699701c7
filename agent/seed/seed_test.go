package seed

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/configs"
	"roomgate/drivers/all"
)

const good = `# the password of the cloud is canary-0
gateway: {id: berlin-3}
cloud:
  url: mqtts://cloud.example.com
  username: berlin-3
  password: canary-1 # canary-2
spaces:
  - name: Atlas
    timezone: Europe/Berlin
    devices:
      - {driver: lock-relay, options: {relay: GPIO17}}
      - {driver: o3-mqtt, options: {address: "10.0.0.7:1883", password: canary-3}}
`

// card is a machine with its boot partition.
type card struct {
	boot string
	o    setup.Options
}

func newCard(t testing.TB, seed string) card {
	t.Helper()
	dir := t.TempDir()
	fresh, err := setup.Fresh(configs.Gateway)
	if err != nil {
		t.Fatal(err)
	}
	c := card{filepath.Join(dir, "boot/firmware"), setup.Options{File: filepath.Join(dir, "etc/gateway.yaml"), Fresh: fresh,
		Credentials: filepath.Join(dir, "etc/credentials"), Kinds: all.All()}}
	if err := os.MkdirAll(c.boot, 0o755); err != nil {
		t.Fatal(err)
	}
	c.write(t, Name, seed)
	return c
}

func (c card) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.boot, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c card) text(name string) string {
	b, _ := os.ReadFile(filepath.Join(c.boot, name))
	return string(b)
}

// taken wants a whole configuration and no secret on the boot partition.
func (c card) taken(t *testing.T) {
	t.Helper()
	got, err := config.Load(c.o.File, all.All())
	if err != nil {
		t.Fatal(err)
	}
	if p, err := got.Cloud.Password.Reveal(got.Cloud.PasswordFile); err != nil || p != "canary-1" || got.Gateway.ID != "berlin-3" {
		t.Errorf("the password is %q, %v, of %s", p, err, got.Gateway.ID)
	}
	if _, err := os.Stat(filepath.Join(c.boot, Name)); err == nil {
		t.Error("the seed is still there")
	}
	if done := c.text(Done); strings.Contains(done, "canary") || !strings.HasPrefix(done, header) {
		t.Errorf("on the boot partition is\n%s", done)
	}
}

func TestTake(t *testing.T) {
	for name, seed := range map[string]string{"written on Linux": good,
		"written on Windows": "\ufeff" + strings.ReplaceAll(good, "\n", "\r\n")} {
		t.Run(name, func(t *testing.T) {
			c := newCard(t, seed)
			lay, err := os.Stat(filepath.Join(c.boot, Name))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := Take(c.boot, c.o, -1)
			if err != nil || plan == nil || len(plan.Config.Spaces) != 1 {
				t.Fatalf("%v, %v", plan, err)
			}
			c.taken(t)
			// Another file would leave the first one's sectors as they are.
			if lies, err := os.Stat(filepath.Join(c.boot, Done)); err != nil || !os.SameFile(lay, lies) {
				t.Errorf("it is not overwritten where it lay: %v", err)
			}
			if !strings.Contains(c.text(Done), "berlin-3") || len(c.text(Done)) < len(seed) {
				t.Errorf("what is left of the seed is\n%s", c.text(Done))
			}
			if plan, err := Take(c.boot, c.o, -1); plan != nil || err != nil {
				t.Errorf("without a seed: %v, %v", plan, err)
			}
		})
	}
}

// The power is cut after each step; the next start comes to the same end.
func TestPowerCut(t *testing.T) {
	whole := newCard(t, good)
	if _, err := Take(whole.boot, whole.o, -1); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(whole.o.File)
	if err != nil {
		t.Fatal(err)
	}
	plan := func(c card) *setup.Plan {
		o := c.o
		o.FromScratch = true
		p, err := setup.Prepare(Name, []byte(good), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, until := range map[string]func(c card){
		"credentials are written": func(c card) {
			p := plan(c)
			p.Before = p.After // as if the rest was done
			if err := p.Write(-1); err != nil {
				t.Fatal(err)
			}
		},
		"the configuration is written": func(c card) {
			if err := plan(c).Write(-1); err != nil {
				t.Fatal(err)
			}
		},
		"the seed is renamed": func(c card) {
			_ = plan(c).Write(-1)
			if err := os.Rename(filepath.Join(c.boot, Name), filepath.Join(c.boot, Done)); err != nil {
				t.Fatal(err)
			}
		},
		"half of the seed is blank": func(c card) {
			_ = plan(c).Write(-1)
			c.write(t, Done, strings.Repeat("\n", 60)+good[60:])
			_ = os.Remove(filepath.Join(c.boot, Name))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCard(t, good)
			until(c)
			if _, err := Take(c.boot, c.o, -1); err != nil {
				t.Fatal(err)
			}
			c.taken(t)
			got, _ := os.ReadFile(c.o.File)
			if here := bytes.ReplaceAll(want, []byte(filepath.Dir(whole.o.File)), []byte(filepath.Dir(c.o.File))); !bytes.Equal(got, here) {
				t.Errorf("the configuration differs:\n%s", setup.Diff(here, got))
			}
			if entries, _ := os.ReadDir(c.o.Credentials); len(entries) != 2 {
				t.Errorf("credentials: %v", entries)
			}
		})
	}
}

func TestAWrongSeedIsLeft(t *testing.T) {
	for wrong, want := range map[string]string{
		strings.Replace(good, "GPIO17", "''", 1):                     ":11:47: spaces[0].devices[0].options.relay is missing",
		strings.Replace(good, "Europe/Berlin", "Berlin", 1):          ":9:15: spaces[0].timezone",
		strings.Replace(good, "gateway:", "gatway:", 1):              ":2:1: unknown key",
		strings.Replace(good, "cloud:\n", "cloud: [\n", 1):           "not YAML",
		"gateway: {id: x}\n" + strings.Repeat("# filled\n", 120_000): "is larger than",
	} {
		c := newCard(t, wrong)
		plan, err := Take(c.boot, c.o, -1)
		var problems *config.Errors
		if !errors.As(err, &problems) || plan != nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), Name) {
			t.Errorf("got %v, want %s", err, want)
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("the error has a secret: %v", err)
		}
		if _, err := os.Stat(filepath.Dir(c.o.File)); err == nil || c.text(Name) != wrong {
			t.Error("something has changed")
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	if got := Find(root); got != "" {
		t.Errorf("found %q", got)
	}
	for _, folder := range []string{"boot", "boot/firmware"} {
		path := filepath.Join(root, folder)
		if err := errors.Join(os.MkdirAll(path, 0o755), os.WriteFile(filepath.Join(path, Name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := Find(root); got != path {
			t.Errorf("found %q", got)
		}
	}
}
