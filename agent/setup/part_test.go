package setup

import (
	"slices"
	"testing"
)

// TestLinesOfARunningGateway: who sets a gateway up anew can give its own lines to other
// devices, each once, and is told who has the others.
func TestLinesOfARunningGateway(t *testing.T) {
	found := Board{Lines: []string{"GPIO5"}, Taken: []string{"GPIO17 (in use by roomgate)", "GPIO27 (in use by roomgate)", "GPIO8 (in use by spi0 CS0)"}}
	console := found.Clone()
	found.Release("roomgate")
	b := found.Clone()
	said := func(b *Board, line string) string {
		if err := b.Judge(Lines, line); err != nil {
			return err.Error()
		}
		return ""
	}
	for line, want := range map[string]string{"GPIO5": "", "GPIO17": "", "GPIO27": "",
		"GPIO8":  "GPIO8 is in use by spi0 CS0: want another line",
		"GPIO71": "there is no free line GPIO71 here"} {
		if got := said(&b, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{"GPIO17", "GPIO5"} {
		b.Take(Lines, line)
		if got, want := said(&b, line), line+" is asked for by an answer before: want another line"; got != want {
			t.Errorf("%s twice: %q, want %q", line, got, want)
		}
	}
	if got := said(&b, "GPIO71"); got != "there is no free line GPIO71 here" {
		t.Errorf("with none free: %q", got)
	}
	if got := said(&console, "GPIO17"); got != "GPIO17 is in use by roomgate: want another line" {
		t.Errorf("while it runs: %q", got)
	}
	if !slices.Equal(found.Ours, []string{"GPIO17", "GPIO27"}) || len(found.Taken) != 1 {
		t.Errorf("a round of questions changes what was found: %+v", found)
	}
	empty := Board{}
	if got := said(&empty, "any.line"); got != "" {
		t.Errorf("no board: %q", got)
	}
}
