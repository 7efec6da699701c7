package main

import (
	"fmt"
	"strings"

	"roomgate/cmd/roomgate/show"
)

// markdown is the list of keys for configs/README.md.
func (r *reference) markdown() string {
	var b strings.Builder
	for _, s := range r.sections {
		fmt.Fprintf(&b, "\n### `%s`\n\n", s.titles[0])
		s.markdown(&b)
	}
	b.WriteString("\n## Options of the drivers\n")
	for _, s := range r.drivers {
		fmt.Fprintf(&b, "\n### `%s`\n\n", strings.Join(s.titles, "`, `"))
		s.markdown(&b)
	}
	return b.String() + "\n"
}

func (s *referenceSection) markdown(b *strings.Builder) {
	if s.text != "" {
		b.WriteString(show.Fill(s.text, "", 120) + "\n")
	}
	for _, e := range s.entries {
		var tags []string
		for _, t := range e.tags {
			tags = append(tags, t.markdown())
		}
		fmt.Fprintf(b, "- %s", strings.Join(tags, ", "))
		if e.text != "" {
			fmt.Fprintf(b, ":\n%s", show.Fill(e.text, "  ", 120))
		}
		b.WriteString("\n")
	}
}

func (t referenceTag) markdown() string {
	switch {
	case t.value == "":
		return "`" + t.key + "`"
	case t.isDefault:
		return "`" + t.key + "` = `" + t.value + "`"
	}
	return "`" + t.key + "` as `" + t.value + "`"
}
