package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// format is the value of --output.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
)

// Set takes one of the two.
func (f *format) Set(s string) error {
	if format(s) != formatTable && format(s) != formatJSON {
		return fmt.Errorf("%q is not an output format: want table or json", s)
	}
	*f = format(s)
	return nil
}

func (f *format) String() string { return string(*f) }

// Type is what usage messages call the value.
func (*format) Type() string { return "format" }

func wantsJSON(cmd *cobra.Command) bool { return text(cmd, "output") == string(formatJSON) }

// show prints v as JSON, or the table that lines makes, as the user wants.
func show(cmd *cobra.Command, v any, header string, lines func(row func(cells ...string))) error {
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), v)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(header, " ", "\t"))
	lines(func(cells ...string) {
		for i := range cells {
			cells[i] = plain(cells[i])
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	})
	return w.Flush()
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// plain keeps what a device says from steering the terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}

// dash stands for nothing in a table.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
