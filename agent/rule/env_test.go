package rule

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestClipCutsBetweenCharacters cuts texts of every length around the bound, with
// characters of one to four bytes.
func TestClipCutsBetweenCharacters(t *testing.T) {
	for _, character := range []string{"a", "ä", "€", "🚪"} {
		for shift := range 5 {
			text := strings.Repeat("x", shift) + strings.Repeat(character, longestText)
			e := Event{Value: text, Previous: text, Reason: text, Details: map[string]any{"note": text, "number": 7}}
			e.Clip()
			for name, got := range map[string]string{"value": e.Value, "previous": e.Previous, "reason": e.Reason, "details": e.Details["note"].(string)} {
				if !utf8.ValidString(got) || len(got) > longestText || len(got) < longestText-3 || !strings.HasPrefix(text, got) {
					t.Errorf("%s of %q after %d: %d bytes, ends in %q", name, character, shift, len(got), got[len(got)-4:])
				}
			}
		}
	}
}
