package api

import (
	_ "embed" // fills the variables below
	"regexp"
	"strings"
	"sync"
)

// openapi2.yaml describes V2.0. It ends with schemas2.yaml, and with those of
// V1.0's schemas that it refers to.
var (
	//go:embed openapi2.yaml
	openapi2Head string
	//go:embed schemas2.yaml
	openapi2Schemas string
)

var openapi2YAML = sync.OnceValue(func() string {
	return openapi2Head + openapi2Schemas + shared(openapi2Head, openapi2Schemas, openapiSchemas)
})

var schemaReference = regexp.MustCompile(`#/components/schemas/(\w+)`)

// shared are the schemas of another file that a description and its own
// schemas refer to, and those that they refer to, in the order of that file.
func shared(head, own, other string) string {
	type schema struct{ name, text string }
	var all []schema
	for line := range strings.Lines(other) {
		if found := componentLine.FindStringSubmatch(strings.TrimRight(line, "\n")); found != nil {
			all = append(all, schema{name: found[1]})
		}
		if len(all) > 0 {
			all[len(all)-1].text += line
		}
	}
	wanted := map[string]bool{}
	want := func(text string) {
		for _, found := range schemaReference.FindAllStringSubmatch(text, -1) {
			wanted[found[1]] = wanted[found[1]] || !strings.Contains(own, "\n    "+found[1]+":")
		}
	}
	want(head + own)
	for before := -1; before != len(wanted); { // until nothing more is referred to
		before = len(wanted)
		for _, s := range all {
			if wanted[s.name] {
				want(s.text)
			}
		}
	}
	var out strings.Builder
	for _, s := range all {
		if wanted[s.name] {
			out.WriteString(s.text)
		}
	}
	return out.String()
}
