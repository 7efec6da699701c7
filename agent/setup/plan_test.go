package setup

import (
	"encoding"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"roomgate/agent/config"
	"roomgate/configs"
	"roomgate/drivers"
	"roomgate/drivers/all"
)

// place is a machine's folder of the configuration.
func place(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	fresh, err := Fresh(configs.Gateway)
	if err != nil {
		t.Fatal(err)
	}
	return Options{File: filepath.Join(dir, "gateway.yaml"), Fresh: fresh, Credentials: filepath.Join(dir, "credentials"),
		Kinds: all.All(), Timezone: "Europe/Berlin"}
}

const answers = `gateway: {id: berlin-3}
cloud:
  url: mqtts://cloud.example.com
  username: berlin-3
  password: canary-1
spaces:
  - name: Atlas
    devices:
      - {driver: lock-relay, options: {relay: GPIO17}}
      - driver: o3-mqtt
        options: {address: "10.0.0.7:1883", password: canary-2}
      - {driver: display-page}
`

func TestFreshHasNoExamples(t *testing.T) {
	fresh := place(t).Fresh
	c, err := config.Parse("fresh", append(fresh, []byte("gateway: {id: x}\n")...), all.All())
	if err == nil || c != nil {
		t.Fatal("gateway is gone from the fresh configuration")
	}
	laid, err := Lay(fresh, []byte("gateway: {id: x}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c, err = config.Parse("fresh", laid, all.All()); err != nil || len(c.Spaces)+len(c.Users)+len(c.Broker.Users) > 0 || c.Gateway.Name != "" {
		t.Fatalf("%v, %v", c, err)
	}
	for _, want := range []string{"#url: mqtts://cloud.example.com", "#listen: 0.0.0.0:1883", "# The meeting spaces."} {
		if !strings.Contains(string(fresh), want) {
			t.Errorf("the fresh configuration has no %q", want)
		}
	}
}

func TestPrepareAndWrite(t *testing.T) {
	o := place(t)
	p, err := Prepare("answers.yaml", []byte(answers), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(-1); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(o.File, all.All())
	if err != nil {
		t.Fatal(err)
	}
	if c.Cloud.Password != "" || c.Cloud.PasswordFile != filepath.Join(o.Credentials, "cloud") {
		t.Errorf("the cloud's password is in %q", c.Cloud.PasswordFile)
	}
	s := c.Spaces[0]
	if s.Timezone != "Europe/Berlin" || s.Devices[0].ID != "atlas-lock" || s.Devices[1].ID != "atlas-o3" || s.Devices[2].Type != drivers.TypeDisplay {
		t.Errorf("the space is %+v", s)
	}
	for name, want := range map[string]string{"cloud": "canary-1\n", "atlas-o3": "canary-2\n"} {
		path := filepath.Join(o.Credentials, name)
		got, err := os.ReadFile(path)
		info, _ := os.Stat(path)
		if err != nil || string(got) != want || info.Mode() != 0o600 {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if text, _ := os.ReadFile(o.File); strings.Contains(string(text), "canary") {
		t.Errorf("the configuration holds a secret:\n%s", text)
	}
	again, err := Prepare("answers.yaml", []byte(answers), o)
	if err != nil || again.Changes() {
		t.Errorf("the same answers again change something, %v:\n%s", err, Diff(again.Before, again.After))
	}
}

// What cannot be written to its end leaves nothing, passwords neither.
func TestWriteFails(t *testing.T) {
	o := place(t)
	p, err := Prepare("answers.yaml", []byte(answers), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(o.File, 0o700); err != nil { // so the new file cannot take its name
		t.Fatal(err)
	}
	if err := p.Write(-1); err == nil || !strings.Contains(err.Error(), "write configuration") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(o.Credentials); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Another password goes to another file: the configuration before needs its own.
func TestTheConfigurationBeforeIsKept(t *testing.T) {
	o := place(t)
	for _, password := range []string{"canary-1", "canary-3"} {
		p, err := Prepare("answers.yaml", []byte(strings.Replace(answers, "canary-1", password, 1)), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(-1); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{o.File: "canary-3", o.File + ".before": "canary-1"} {
		c, err := config.Load(file, all.All())
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := c.Cloud.Password.Reveal(c.Cloud.PasswordFile); got != want {
			t.Errorf("%s leads to %q", file, got)
		}
	}
}

func TestMistakesAreNamedInTheAnswers(t *testing.T) {
	o := place(t)
	for answers, want := range map[string]string{
		"gateway: {id: x}\nspaces:\n  - name: Atlas\n    timezone: Nowhere\n":                                      "a.yaml:4:15: spaces[0].timezone",
		"gateway: {id: x}\nspaces:\n  - name: Atlas\n    nmae: x\n":                                                `a.yaml:4:5: unknown key "nmae"`,
		"gateway: {id: x}\ngateway: {id: y}\n":                                                                     "a.yaml:2:1: gateway is already in line 1",
		"gateway: {id: x\n":                                                                                        "a.yaml:2:1: not YAML",
		"cloud: {url: 'mqtts://x'}\n":                                                                              "gateway.id",
		"gateway: {id: x}\ncloud: {username: me, password: canary, password_file: /x}\n":                           "a.yaml:2:33: password and password_file are both there",
		"gateway: {id: x}\ncloud: {password: canary}\n":                                                            "a.yaml:2:1: cloud.username",
		"gateway: {id: x}\nspaces: [{name: A, devices: [{driver: lock-relay, options: {rely: GPIO1}}]}]\n":         `unknown key "rely"`,
		"gateway: {id: x}\ncloud: {url: \"mqtts://c\", username: u, password: *canary}\n":                          "a.yaml:2:50: not YAML",
		"gateway: {id: x}\ncloud: {url: \"mqtts://c\", username: u, password: !canary x}\n":                        "a.yaml:2:50: starts with",
		"gateway: {id: x}\nspaces: [{name: A, devices: [{driver: lock-rely}]}]\n":                                  "did you mean",
		"gateway: {id: x}\nspaces: [{name: A}, {name: B, devices: [{driver: o3-mqtt, options: {address: no}}]}]\n": "a.yaml:2:78: spaces[1].devices[0].options.address",
	} {
		p, err := Prepare("a.yaml", []byte(answers), o)
		var problems *config.Errors
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), want) || p != nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q gives\n  %v, want\n  %s", answers, err, want)
		}
	}
	if _, err := os.Stat(o.File); err == nil {
		t.Error("something was written")
	}
}

// The packaged service gets its secrets by a name, from systemd.
func TestReference(t *testing.T) {
	o := place(t)
	o.Reference = func(file string) string { return "${CREDENTIALS_DIRECTORY}/secret_" + file }
	p, err := Prepare("a.yaml", []byte(answers), o)
	if err != nil || p.Config.Cloud.PasswordFile != "${CREDENTIALS_DIRECTORY}/secret_cloud" || p.Credentials[0].Name != filepath.Join(o.Credentials, "cloud") {
		t.Errorf("%v, %+v", err, p)
	}
}

// A mistake that the file had before is named in the file.
func TestMistakesOfTheFileAreItsOwn(t *testing.T) {
	o := place(t)
	if err := os.WriteFile(o.File, []byte("gateway: {id: x}\nstore: {events: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Prepare("a.yaml", []byte("gateway: {id: y}\n"), o)
	if err == nil || !strings.HasPrefix(err.Error(), o.File+":2:") {
		t.Errorf("got %v", err)
	}
}

// Every secret that the configuration or a driver takes is moved to a file.
func TestEverySecretIsKnown(t *testing.T) {
	check := func(v any) {
		for _, key := range config.Keys(v) {
			last := key[strings.LastIndexAny(key, ".]")+1:]
			if strings.HasSuffix(last, "_file") && last != "ca_file" && !isSecret(strings.TrimSuffix(last, "_file"), scalar("x")) {
				t.Errorf("%T has %s, which setup does not know", v, key)
			}
		}
		secretFields(reflect.TypeOf(v), func(name string) {
			if !isSecret(name, scalar("x")) {
				t.Errorf("%T has the secret %s, which setup does not move", v, name)
			}
		})
	}
	check(config.Config{})
	for _, k := range all.All() {
		check(k.Options())
	}
}

func secretFields(t reflect.Type, f func(name string)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if field.Type == reflect.TypeFor[drivers.Secret]() {
			f(name)
		} else if field.IsExported() {
			secretFields(field.Type, f)
		}
	}
}

func TestDiff(t *testing.T) {
	got := Diff([]byte("a\nb\nc\nd\ne\nf\n"), []byte("a\nb\nc\nd\nE\nf\ng\n"))
	want := "@@ -2,5 +2,6 @@\n b\n c\n d\n-e\n+E\n f\n+g\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	hidden := Diff([]byte("password: canary\na: {token: 'canary, x', b: 1}\npassword_file: /shown\n"), []byte("password: canary x # canary\n"))
	if strings.Contains(hidden, "canary") || !strings.Contains(hidden, "/shown") || !strings.Contains(hidden, "b: 1") {
		t.Errorf("secrets are shown:\n%s", hidden)
	}
	if got := Diff(nil, []byte("a\n")); got != "@@ -1,0 +1,1 @@\n+a\n" {
		t.Errorf("a new file is %q", got)
	}
	if Diff([]byte("a\n"), []byte("a\n")) != "" {
		t.Error("nothing is something")
	}
}

func FuzzLay(f *testing.F) {
	f.Add(string(configs.Gateway), answers)
	f.Add("a: 1 # x\nb:\n- 1\n", "a: {b: 2}\n")
	f.Add("spaces:\n  - {id: a,\n     name: b}\n", "spaces: [{id: a, name: c}]\n")
	f.Fuzz(func(t *testing.T, base, over string) {
		out, err := Lay([]byte(base), []byte(over))
		if err != nil {
			return
		}
		again, err := Lay(out, []byte(over))
		if err != nil || string(again) != string(out) {
			t.Errorf("laid over again, %v:\n%s", err, Diff(out, again))
		}
	})
}

// FuzzFrom reads answers as a seed has them, which somebody else may have written.
func FuzzFrom(f *testing.F) {
	f.Add([]byte(answers))
	f.Add([]byte("a: &x [1, 2]\nb: [*x, *x]\n"))
	f.Add([]byte("a: &x\n  b: *x\n"))
	f.Add([]byte("spaces:\n- <<: {id: a}\n  name: \"\\xff\"\n"))
	f.Fuzz(func(t *testing.T, seed []byte) {
		a := NewAnswers()
		if err := a.From(seed); err != nil {
			return
		}
		if text, err := a.YAML(); err == nil && len(text) > 100*len(seed)+1000 {
			t.Errorf("%d bytes become %d", len(seed), len(text))
		}
	})
}

// TestDataFolderIsWhole: a gateway that is started elsewhere finds its data, and the usual folder is
// not written at all.
func TestDataFolderIsWhole(t *testing.T) {
	o := place(t)
	o.Folder = "/srv/house"
	for given, want := range map[string]string{"var": "/srv/house/var", "/srv/data": "/srv/data", "/var/lib/roomgate": ""} {
		p, err := Prepare("answers", []byte("gateway: {id: a}\ndata: "+given+"\n"), o)
		if err != nil {
			t.Fatal(err)
		}
		after, err := tree(p.After)
		if err != nil {
			t.Fatal(err)
		}
		if got := word(after, "data"); got != want {
			t.Errorf("%s: written as %q, want %q", given, got, want)
		}
	}
	o.Folder = "" // of a seed nobody knows where it will be
	if _, err := Prepare("seed.yaml", []byte("gateway: {id: a}\ndata: var\n"), o); err == nil || err.Error() != `seed.yaml:2:7: data is "var": want a whole path, as /var/lib/roomgate` {
		t.Error(err)
	}
}

// TestWrongDriverIsOneMistake: what answers leave out, because the driver says it, is not missing.
func TestWrongDriverIsOneMistake(t *testing.T) {
	_, err := Prepare("answers", []byte("gateway: {id: a}\nspaces:\n  - name: Atlas\n    timezone: Europe/Berlin\n    devices:\n      - {driver: lock-rely, options: {relay: GPIO17}}\n"), place(t))
	if want := `answers:6:18: spaces[0].devices[0].driver is "lock-rely": did you mean "lock-relay"?`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
