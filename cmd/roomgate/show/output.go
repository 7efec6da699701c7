package show

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/sys/unix"
	"roomgate/agent/printable"
)

// Format is the value of --output.
type Format string

// The formats.
const (
	FormatTable Format = "table"
	FormatJSON  Format = "json"
)

// Set takes one of the two.
func (f *Format) Set(s string) error {
	if Format(s) != FormatTable && Format(s) != FormatJSON {
		return fmt.Errorf("%q is not an output format: want table or json", s)
	}
	*f = Format(s)
	return nil
}

func (f *Format) String() string { return string(*f) }

// Type is what usage messages call the value.
func (*Format) Type() string { return "format" }

// Table prints the rows that lines makes below a header, whose columns a space
// divides.
func Table(out io.Writer, header string, lines func(row func(cells ...string))) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(header, " ", "\t"))
	lines(func(cells ...string) {
		for i := range cells {
			cells[i] = Plain(cells[i])
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	})
	return w.Flush()
}

// JSON prints v indented.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Plain keeps what a device says from steering the terminal, and from showing as something else.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if printable.Hidden(r) {
			return '?'
		}
		return r
	}, s)
}

// PlainLines is Plain of a text that may have several lines, and tabs.
func PlainLines(s string) string {
	return strings.Map(func(r rune) rune {
		if printable.Hidden(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, s)
}

// plainLines writes what is written to it as PlainLines. Each write has whole characters.
type plainLines struct{ out io.Writer }

func (w plainLines) Write(p []byte) (int, error) {
	_, err := io.WriteString(w.out, PlainLines(string(p)))
	return len(p), err
}

// Dash stands for nothing in a table.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Count writes a number with its noun, as 1 byte and 2 bytes.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Bytes writes a size in bytes for people.
func Bytes(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f kB", float64(n)/(1<<10))
	}
	return Count(int(n), "byte")
}

// IsTerminal says whether a person is at the other end of a file.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
