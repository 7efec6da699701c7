package main

import (
	"fmt"
	"strings"
)

// referenceName is the manual page of the configuration.
const referenceName = "gateway.yaml.5"

// manPage is gateway.yaml(5).
func (r *reference) manPage(day string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH GATEWAY.YAML 5 \"%s\" \"%s\"\n.nh\n.ad l\n", day, roff("roomgate "+version))
	b.WriteString(".SH NAME\ngateway.yaml \\- configuration of a Roomgate gateway\n")
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", roff(defaultConfig))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", manText(r.intro))
	b.WriteString(".PP\nA key is shown with its default, or with an example.\n")
	for _, s := range r.sections {
		fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(s.titles[0])))
		s.man(&b)
	}
	b.WriteString(".SH OPTIONS OF THE DRIVERS\n")
	for _, s := range r.drivers {
		fmt.Fprintf(&b, ".SS %s\n", roff(strings.Join(s.titles, ", ")))
		s.man(&b)
	}
	fmt.Fprintf(&b, ".SH FILES\n")
	manEntry(&b, "/usr/share/doc/roomgate/examples/gateway.yaml", "the commented example, from which this page is made")
	b.WriteString(".SH SEE ALSO\n\\fBroomgate\\fR(8),\n\\fBroomgate\\-check\\-config\\fR(8),\n\\fBroomgate\\-setup\\fR(8)\n")
	return b.String()
}

func (s *referenceSection) man(b *strings.Builder) {
	if s.text != "" {
		b.WriteString(roff(s.text) + "\n")
	}
	for _, e := range s.entries {
		for i, t := range e.tags {
			macro := ".TQ"
			if i == 0 {
				macro = ".TP"
			}
			value := ""
			switch {
			case t.isDefault:
				value = " (default: " + t.value + ")"
			case t.value != "":
				value = " (as " + t.value + ")"
			}
			fmt.Fprintf(b, "%s\n\\fB%s\\fR%s\n", macro, roff(t.key), roff(value))
		}
		if e.text != "" {
			b.WriteString(roff(e.text) + "\n")
		}
	}
}
