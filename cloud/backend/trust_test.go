package backend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file without a certificate is refused, none is no reason.
func TestTrust(t *testing.T) {
	if c, err := Trust(""); c != nil || err != nil {
		t.Errorf("no file: %v, %v", c, err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, empty + ".none"} {
		if _, err := Trust(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
