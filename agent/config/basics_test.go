package config

import (
	"os"
	"path/filepath"
	"testing"
)

// Which gateway does not start is said also where its configuration is no YAML.
func TestBasicsOfBrokenFiles(t *testing.T) {
	const broken = "spaces:\n  - id: x\n   name: y\n"
	for text, want := range map[string]string{
		"gateway: {id: berlin-3, name: North}\n" + broken:                         "berlin-3",
		"# ours\ngateway:\n  # which\n  name: North\n  id: \"rome-1\"\n" + broken: "rome-1",
		"gateway:\r\n  id: rome.2 # it\r\n" + broken:                              "rome.2",
		"gateway:\n  id: berlin-4\n":                                              "berlin-4",
		broken:                                                                    "",
		"cloud:\n  id: other\n" + broken:                                          "",
	} {
		path := filepath.Join(t.TempDir(), "gateway.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := BasicsIn(path).ID; got != want {
			t.Errorf("%q in %q, want %q", got, text, want)
		}
	}
}
