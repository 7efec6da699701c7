package setup

import (
	"os"
	"strings"
	"testing"
)

// What answers say twice is named with both places, not blamed on the file that they are
// laid over.
func TestAnswersSayNothingTwice(t *testing.T) {
	for answers, want := range map[string]string{
		"spaces:\n  - name: Atlas\n    devices:\n      - {driver: lock-relay, options: {relay: GPIO17}}\n      - {driver: lock-relay, options: {relay: GPIO4}}\n": "a.yaml:6:9: room Atlas already has a lock on GPIO17 in line 5",
		"spaces:\n  - name: Atlas\n    devices:\n      - {id: a, driver: o3-mqtt, options: {password: canary}}\n      - {id: b, driver: o3-room, options: {}}\n":  "a.yaml:6:9: room Atlas already has an o3-sensor in line 5",
		"spaces:\n  - {name: Atlas}\n  - {name: atlas}\n":                                    "a.yaml:4:5: room atlas is already there in line 3",
		"users:\n  - {id: ada, email: a@example.com}\n  - {id: ada, email: b@example.com}\n": "a.yaml:4:5: user ada is already there in line 3",
		"broker:\n  users:\n    - {name: a, password: canary}\n    - {name: A}\n":            "a.yaml:5:7: room broker: user A is already there in line 4",
	} {
		if _, err := Prepare("a.yaml", []byte("gateway: {id: a}\n"+answers), place(t)); err == nil || err.Error() != want {
			t.Errorf("%s is told %v, want %s", answers, err, want)
		}
	}
}

// A configuration that is no YAML is told of in words, with its place, also where nobody
// is asked.
func TestABrokenConfigurationIsToldInWords(t *testing.T) {
	for broken, want := range map[string]string{
		"gateway:\n  id: a\nspaces:\n  - name: Atlas\n    timezone: UTC\n   - name: Bora\n": "gateway.yaml:6:4: not YAML: this line is no item of the list above",
		"- a\n": "gateway.yaml:1:1: the document is a list: want keys with values",
	} {
		o := place(t)
		if err := os.WriteFile(o.File, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Prepare("a.yaml", []byte("gateway: {id: b}\n"), o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "parser") {
			t.Errorf("%q is told %v", broken, err)
		}
	}
}
