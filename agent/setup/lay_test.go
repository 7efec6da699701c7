package setup

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"roomgate/configs"
)

func lay(t *testing.T, base, over string) string {
	t.Helper()
	out, err := Lay([]byte(base), []byte(over))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestLay(t *testing.T) {
	for name, c := range map[string]struct{ base, over, want string }{
		"nothing to do":          {"a: 1 # one\n", "a: 1\n", "a: 1 # one\n"},
		"a value keeps comments": {"# top\na: 1 # one\n\nb: 2\n", "a: 3\n", "# top\na: 3 # one\n\nb: 2\n"},
		"an empty file":          {"", "a: {b: 1}\n", "a: {b: 1}\n"},
		"only comments":          {"# here\n", "a: 1\n", "# here\na: 1\n"},
		"a shown key": {"cloud:\n  # the broker\n  #url: mqtts://x\n  #rate: 5 # a second\n\n# the next\nb:\n",
			"cloud: {url: mqtts://y, rate: 6}\n",
			"cloud:\n  # the broker\n  url: mqtts://y\n  rate: 6 # a second\n\n# the next\nb:\n"},
		"a key that is not shown": {"cloud:\n  url: x\n  #rate: 5\n\n# next\nb: 1\n", "cloud: {user: me}\n",
			"cloud:\n  url: x\n  user: me\n  #rate: 5\n\n# next\nb: 1\n"},
		"a shown key elsewhere": {"a:\n  #x: 1\nb:\n  y: 1\n", "b: {x: 2}\n", "a:\n  #x: 1\nb:\n  y: 1\n  x: 2\n"},
		"a space by name": {"spaces:\n  - id: one\n    name: Atlas # big\n    devices:\n      - {id: l, type: light}\n      # more\n",
			"spaces: [{name: atlas, capacity: 4}]\n",
			"spaces:\n  - id: one\n    name: atlas # big\n    devices:\n      - {id: l, type: light}\n      # more\n    capacity: 4\n"},
		"a device by type": {"spaces:\n  - id: one\n    devices:\n      - {id: l, type: light, options: {a: 1}}\n      - id: f\n        type: fan\n",
			"spaces: [{id: one, devices: [{type: light, options: {b: 2}}, {type: fan, poll: 1s}, {type: lock}]}]\n",
			"spaces:\n  - id: one\n    devices:\n      - {id: l, type: light, options: {a: 1, b: 2}}\n      - id: f\n        type: fan\n        poll: 1s\n      - {type: lock}\n"},
		"another driver": {"spaces:\n  - id: one\n    devices:\n      - id: l\n        type: light\n        driver: a\n        options: {a: 1}\n",
			"spaces: [{id: one, devices: [{type: light, driver: b}]}]\n",
			"spaces:\n  - id: one\n    devices:\n      - {type: light, driver: b}\n"},
		"an empty list":                  {"spaces: [] # none\nb: 1\n", "spaces: [{id: one}]\n", "spaces: [{id: one}] # none\nb: 1\n"},
		"a list of the package":          {"spaces: [] # none\nb: 1\n", "spaces:\n  - id: one\n    name: Atlas\n", "spaces: # none\n  - id: one\n    name: Atlas\nb: 1\n"},
		"a mapping without keys":         {"cloud: {}\nb: 1\n", "cloud:\n  url: x\n", "cloud:\n  url: x\nb: 1\n"},
		"a list as far in":               {"users:\n- id: a\n- id: b\nb: 1\n", "users: [{id: c}]\n", "users:\n- id: a\n- id: b\n- {id: c}\nb: 1\n"},
		"a text in lines":                {"a: |\n  x\n  y\nb: 1\n", "a: z\n", "a: z\nb: 1\n"},
		"a plain list":                   {"a:\n  - 1\n  - 2\nb: 1\n", "a:\n  - 3\n", "a:\n  - 3\nb: 1\n"},
		"what looks like something else": {"a: x\n", "a: \"no\"\nb: \"0x10\"\nc: \"*x\"\n", "a: \"no\"\nb: \"0x10\"\nc: \"*x\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := lay(t, c.base, c.over)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if again := lay(t, got, c.over); again != got {
				t.Errorf("laid over again it is\n%s", again)
			}
		})
	}
}

// Every line of the example that is not a setting that changes stays as it is.
func TestLayKeepsTheExample(t *testing.T) {
	base := string(configs.Gateway)
	got := lay(t, base, `
gateway: {id: berlin-3}
http: {tls: {certificate: /a.pem, key: /b.pem}}
cloud: {url: "mqtts://cloud.example.com", username: berlin-3, password_file: /x}
spaces:
  - name: Atlas
    capacity: 12
  - name: Delta
    timezone: Europe/Rome
`)
	if os.Getenv("SHOW") != "" {
		t.Log(got)
	}
	kept := strings.Split(got, "\n")
	var gone []string
	for line := range strings.SplitSeq(base, "\n") {
		i := 0
		for i < len(kept) && kept[i] != line {
			i++
		}
		if i == len(kept) {
			gone = append(gone, strings.TrimSpace(line))
			continue
		}
		if i > 40 { // what came in between are the new lines
			t.Fatalf("after %q comes %q", line, kept[:3])
		}
		kept = kept[i+1:]
	}
	want := []string{"id: example", "#certificate: /etc/roomgate/tls/gateway.pem", "#key: /etc/roomgate/tls/gateway.key",
		"#url: mqtts://cloud.example.com", "#username: example", `#password_file: ${CREDENTIALS_DIRECTORY}/secret_cloud`, "capacity: 8"}
	if diff := cmp.Diff(want, gone); diff != "" {
		t.Errorf("lines that are gone (-want +got)\n%s", diff)
	}
}
