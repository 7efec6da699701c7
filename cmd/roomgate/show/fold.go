package show

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Fold breaks the lines of each paragraph that has one longer than width columns, and fills them
// again. A paragraph with an indented line stays: it is an example or a
// table.
func Fold(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		lines := strings.Split(p, "\n")
		long := slices.ContainsFunc(lines, func(l string) bool { return utf8.RuneCountInString(l) > width })
		indented := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, " ") })
		if long && !indented {
			paragraphs[i] = Fill(p, "", width)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// Fill puts as many words on each line as fit in width columns, after the indent.
func Fill(text, indent string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case i > 0 && column+1+length <= width:
			b.WriteString(" " + word)
			column += 1 + length
			continue
		case i > 0:
			b.WriteByte('\n')
		}
		b.WriteString(indent + word)
		column = len(indent) + length
	}
	return b.String()
}
