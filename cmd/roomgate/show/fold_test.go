package show

import "testing"

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"one two\nthree":             "one two\nthree", // as it is written
		"one two three\nfour":        "one two\nthree four",
		"a table:\n  one two three":  "a table:\n  one two three",
		"über über ab":               "über über\nab",
		"unbreakable-word it":        "unbreakable-word\nit",
		"one two three\n\nfour five": "one two\nthree\n\nfour five",
	} {
		if got := Fold(text, 10); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
