package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"listen", "tls", "password", "password_file", "occupancyChanged"}
	for word, want := range map[string]string{"lisetn": "listen", "Listen": "listen", "password-file": "password_file",
		"pasword": "password", "tsl": "tls", "x": "", "": "", "colour": "", "ocupancychanged": "occupancyChanged",
		strings.Repeat("x", 1<<20): ""} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
