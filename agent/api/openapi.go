package api

import (
	_ "embed" // fills the variables below
	"fmt"
	"html"
	"regexp"
	"strings"
	"sync"

	"roomgate/agent/web"
)

// openapi.yaml ends with the schemas, which have a file of their own.
var (
	//go:embed openapi.yaml
	openapiHead string
	//go:embed schemas.yaml
	openapiSchemas string
)

//go:embed asyncapi.yaml
var asyncapiYAML []byte

// Versions are those of the HTTP interface, the oldest first.
func Versions() []string {
	return []string{strings.TrimPrefix(versionPrefix, "/v"), strings.TrimPrefix(v2Prefix, "/v")}
}

// openapiFile is the description of the version that is asked for.
func openapiFile(_ *Server, c *call) error {
	return c.text("application/yaml; charset=utf-8", documentOf(c.v2).yaml)
}

func asyncapiFile(_ *Server, c *call) error {
	return c.text("application/yaml; charset=utf-8", asyncapiYAML)
}

// openapiPage shows the description to a person, in one page that needs
// nothing but the gateway, which may have no internet.
func openapiPage(s *Server, c *call) error {
	web.Guard(c.w.Header())
	return c.text("text/html; charset=utf-8", []byte(documentOf(c.v2).page(s.version)))
}

// document is the description of one version.
type document struct {
	sections
	yaml []byte
	v2   bool
}

// documents are those of V1.0 and V2.0. Each is made when it is first asked for.
var documents [2]struct {
	once sync.Once
	document
}

func documentOf(v2 bool) *document {
	d := &documents[0]
	if v2 {
		d = &documents[1]
	}
	d.once.Do(func() {
		text := openapiHead + openapiSchemas
		if v2 {
			text = openapi2YAML()
		}
		d.document = document{cut(text), []byte(text), v2}
	})
	return &d.document
}

// sections are the parts of a description that the page shows one by one.
type sections struct {
	operations map[string]string // by "METHOD path"
	webhooks   string            // what the gateway sends itself
	components []section
}

type section struct{ name, text string }

var (
	pathLine      = regexp.MustCompile(`^  (/\S*):$`)
	methodLine    = regexp.MustCompile(`^    (get|post|put|patch|delete):$`)
	componentLine = regexp.MustCompile(`^    (\w+): ?(.*)$`)
	reference     = regexp.MustCompile(`#/components/(\w+)/(\w+)`)
)

// cut goes by the indentation of the file, which a test holds to.
func cut(file string) sections {
	out := sections{operations: map[string]string{}}
	var top, path, operation string
	for line := range strings.Lines(file) {
		bare := strings.TrimRight(line, "\n")
		if bare != "" && bare[0] != ' ' && bare[0] != '#' {
			top, operation = bare, ""
		}
		switch {
		case top == "paths:" && pathLine.MatchString(bare):
			path, operation = pathLine.FindStringSubmatch(bare)[1], ""
		case top == "paths:" && methodLine.MatchString(bare):
			operation = strings.ToUpper(methodLine.FindStringSubmatch(bare)[1]) + " " + path
		case top == "paths:" && operation != "":
			out.operations[operation] += strings.TrimPrefix(line, "      ")
		case top == "webhooks:" && strings.HasPrefix(line, "  "):
			out.webhooks += strings.TrimPrefix(line, "  ")
		case top == "components:" && componentLine.MatchString(bare):
			found := componentLine.FindStringSubmatch(bare)
			out.components = append(out.components, section{found[1], strings.TrimLeft(found[2]+"\n", "\n")})
		case top == "components:" && len(out.components) > 0 && strings.HasPrefix(line, "      "):
			out.components[len(out.components)-1].text += strings.TrimPrefix(line, "      ")
		}
	}
	return out
}

// intros are what the page of a version says first.
var intros = map[bool]string{
	false: `Paths below devices, edge, meetingspace, bookings and rules are also found under ` + versionPrefix + `. <a href="` + v2Prefix + `/openapi">V2.0</a> ` +
		`does the same with uniform names, typed values, units, times and cursors.`,
	true: `This is V2.0; <a href="/openapi">V1.0</a> is the platform's literal interface, and what belongs to the gateway alone.`,
}

func (d *document) page(version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html><html lang="en"><meta charset="utf-8"><title>Roomgate interface</title>`+
		`<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="%s">`+
		`<h1>Roomgate interface</h1><p>Version %s. The same for programs: <a href="openapi.yaml">openapi.yaml</a>. `+
		`%s</p><h2>Operations</h2><p>Behind each stands who may it: the least role of a person, an operator may what a member may, an admin what an operator may, `+
		`and the permission that the key of an organization needs; anyone has some credential, building is a system key or an admin without an organization.</p>`, web.AssetPath("openapi.css"), html.EscapeString(version), intros[d.v2])
	for _, r := range routes() {
		if r.v2() != d.v2 {
			continue
		}
		fmt.Fprintf(&b, `<details><summary><b>%s</b> <code>%s</code> %s <i>%s</i></summary><pre>%s</pre></details>`,
			r.method, html.EscapeString(r.path), html.EscapeString(r.summary), html.EscapeString(newEndpoint(&r).audience()), linked(d.operations[r.method+" "+r.path]))
	}
	fmt.Fprintf(&b, `<h2>Webhooks</h2><pre>%s</pre><h2>Components</h2>`, linked(d.webhooks))
	for _, s := range d.components {
		fmt.Fprintf(&b, `<section id="%s"><h3>%s</h3><pre>%s</pre></section>`, s.name, s.name, linked(s.text))
	}
	return b.String()
}

// linked makes links of the references between sections.
func linked(text string) string {
	return reference.ReplaceAllString(html.EscapeString(text), `<a href="#$2">$2</a>`)
}
