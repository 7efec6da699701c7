package show

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// Who interrupts is not kept waiting for an answer.
func TestTerminalIsInterrupted(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewTerminal(in, io.Discard).Line(ctx, "there?"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A last line without an end counts, and then nobody answers.
func TestTerminalEnds(t *testing.T) {
	var out strings.Builder
	term := NewTerminal(strings.NewReader(" one \n"+strings.Repeat("x", 2*longestLine)), &out)
	for _, want := range []string{"one", strings.Repeat("x", longestLine)} {
		if got, err := term.Line(t.Context(), "? "); err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := term.Line(t.Context(), "? "); !errors.Is(err, ErrNobody) {
		t.Errorf("at the end: %v", err)
	}
	if out.String() != "? ? ? \n" {
		t.Errorf("asked %q", out.String())
	}
}

// What a device says does not steer the terminal, and an empty cell keeps its
// column.
func TestTable(t *testing.T) {
	var out strings.Builder
	err := Table(&out, "NAME VALUE", func(row func(...string)) {
		row("lock", Dash(""))
		row("a\x1b[2J", Count(2, "byte"))
		row(Bytes(1<<10), Bytes(1))
	})
	if want := "NAME    VALUE\nlock    -\na?[2J   2 bytes\n1.0 kB  1 byte\n"; err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}
