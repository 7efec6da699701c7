package main

import (
	"flag"
	"io/fs"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/api"
	"roomgate/agent/config"
	"roomgate/drivers/all"
)

var rewrite = flag.Bool("update", false, "write the list of keys again")

// mostRootLines keeps the first page at what somebody reads who does not know
// yet whether it is for him.
const mostRootLines = 200

// TestReadmeRoot: the first page is short, begins with a picture and the two
// commands, and leads to every other page.
func TestReadmeRoot(t *testing.T) {
	p := readPage(t, "README.md")
	if n := strings.Count(p.text, "\n"); n > mostRootLines {
		t.Errorf("README.md has %d lines, more than %d: move what is not for everybody beside its subject", n, mostRootLines)
	}
	for _, want := range []string{".svg", "make run", "make test"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("README.md does not have %s", want)
		}
	}
	if b := p.blocks; len(b) < 3 || !slices.ContainsFunc(b, func(b block) bool { return b.lang == langConsole && b.commands[0] == "make run" }) {
		t.Errorf("README.md starts no demo")
	}
	for _, name := range []string{"cmd/roomgate", "systemd", "configs", "agent/api", "cloud", "drivers", "agent"} {
		if readPage(t, name+"/README.md"); !strings.Contains(p.text, "("+name+"/README.md)") {
			t.Errorf("README.md does not lead to %s/README.md", name)
		}
	}
}

// named is a file that a reason names.
var named = regexp.MustCompile(`[\w/]+\.(?:go|txt|md)\b`)

// TestReadmeBlocks: what stands in a block is typed, read or parsed, or says why
// not; no block is of a kind that nothing looks at.
func TestReadmeBlocks(t *testing.T) {
	indented := regexp.MustCompile(`(?m)^\n( {4}|\t)\S`)
	for _, p := range readmePages(t) {
		outside := p.text
		for _, b := range p.blocks {
			outside = strings.Replace(outside, b.text, "", 1)
			for _, file := range named.FindAllString(b.reason, -1) {
				if _, err := os.Stat(filepath.Join(root, file)); err != nil {
					t.Errorf("%s:%d is said to be executed elsewhere: %v", p.name, b.line, err)
				}
			}
			switch {
			case b.lang == langSetup || b.lang == "text" || (b.lang == langShell || b.lang == langConsole) && (len(b.commands) > 0 || b.reason != ""):
			case (b.lang == "go" || b.lang == "js") && b.reason != "":
			case b.lang == "json":
				var v any
				if err := yaml.Load([]byte(b.text), &v); err != nil {
					t.Errorf("%s:%d: %v", p.name, b.line, err)
				}
			case b.lang == "yaml":
				if _, err := config.Parse(p.name, []byte(b.text), all.All()); err != nil {
					t.Errorf("%s:%d: %v", p.name, b.line, err)
				}
			default:
				t.Errorf("%s:%d is a block of %q with %d commands: want console, sh, yaml, json or text", p.name, b.line, b.lang, len(b.commands))
			}
		}
		if indented.MatchString(outside) && !strings.Contains(p.name, "testdata") {
			t.Errorf("%s has an indented block, which nobody executes: fence it", p.name)
		}
	}
}

var (
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	headings = regexp.MustCompile(`(?m)^#+ (.+)$`)
	odd      = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestReadmeLinks: every link inside the tree leads to a file, and to a heading
// if it names one.
func TestReadmeLinks(t *testing.T) {
	for _, p := range readmePages(t) {
		for _, m := range links.FindAllStringSubmatch(p.text, -1) {
			link := m[1] + m[2]
			if strings.Contains(link, ":") {
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			at := filepath.Join(root, path.Dir(p.name), file)
			if file == "" {
				at = filepath.Join(root, p.name)
			}
			text, err := os.ReadFile(at)
			if info, _ := os.Stat(at); err != nil && (info == nil || !info.IsDir()) {
				t.Errorf("%s: the link to %s leads nowhere", p.name, link)
			} else if anchor != "" && !slices.Contains(anchors(string(text)), anchor) {
				t.Errorf("%s: %s has no heading for #%s", p.name, file, anchor)
			}
		}
	}
}

// anchors are the names by which the headings of a page are linked.
func anchors(text string) (found []string) {
	for _, m := range headings.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.ReplaceAll(odd.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return found
}

// sameNames wants each name on a page, and none that there is not.
func sameNames(t *testing.T, where string, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s does not have %s", where, name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s has %s, which does not exist", where, name)
		}
	}
	if len(want) < 5 {
		t.Errorf("%s: only %q was asked for", where, want)
	}
}

// firsts are the first names in code of the rows of a page's tables.
func firsts(text string, column int) (found []string) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < column+2 || cells[0] != "" {
			continue
		}
		for _, m := range inCode.FindAllStringSubmatch(cells[column], -1) {
			found = append(found, m[1])
		}
	}
	return found
}

var inCode = regexp.MustCompile("`([^`]+)`")

// TestReadmeHouse: who adds a noun types a pattern that runs each test of the house.
func TestReadmeHouse(t *testing.T) {
	found := regexp.MustCompile("go test ./cmd/roomgate -run '([^']+)'").FindStringSubmatch(readPage(t, "agent/README.md").section("## Add a noun"))
	files, err := filepath.Glob("house*_test.go")
	if err != nil || found == nil || len(files) == 0 {
		t.Fatalf("no pattern, or no tests of the house: %v", err)
	}
	pattern := regexp.MustCompile(found[1])
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllSubmatch(text, -1) {
			if !pattern.Match(name[1]) {
				t.Errorf("agent/README.md types a pattern without %s of %s", name[1], file)
			}
		}
	}
}

// TestReadmeDrivers: the table of drivers has all that there are.
func TestReadmeDrivers(t *testing.T) {
	var want []string
	for _, k := range all.All() {
		want = append(want, k.Name)
	}
	sameNames(t, "drivers/README.md", firsts(readPage(t, "drivers/README.md").section("## The drivers"), 2), want)
}

// TestReadmeTopics: the table of topics has all of the cloud's contract.
func TestReadmeTopics(t *testing.T) {
	var contract struct {
		Channels map[string]struct{ Address string }
	}
	loadYAML(t, "agent/api/asyncapi.yaml", &contract)
	var want []string
	for _, c := range contract.Channels {
		want = append(want, strings.TrimPrefix(c.Address, "roomgate/v1/{gateway_id}/"))
	}
	sameNames(t, "cloud/README.md", firsts(readPage(t, "cloud/README.md").section("## Topics"), 1), want)
}

// TestReadmeRoutes: the tables of the HTTP interface have every operation, each
// of V1.0 beside those of V2.0 that do the same.
func TestReadmeRoutes(t *testing.T) {
	text := readPage(t, "agent/api/README.md").section("## Every operation")
	served := api.New(api.Options{}).Handler()
	for column, path := range map[int]string{1: "/openapi.yaml", 2: "/v2.0/openapi.yaml"} {
		var description struct {
			Paths map[string]map[string]yaml.Node
		}
		answer := httptest.NewRecorder()
		served.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		if err := yaml.Load(answer.Body.Bytes(), &description); err != nil {
			t.Fatal(err)
		}
		var want []string
		for path, methods := range description.Paths {
			for method := range methods {
				if slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
					want = append(want, strings.ToUpper(method)+" "+strings.TrimPrefix(path, "/v2.0"))
				}
			}
		}
		sameNames(t, "agent/api/README.md, column "+string(rune('0'+column)), firsts(text, column), want)
	}
}

// TestReadmeRedLines: the table of red lines has findings that the doctor prints.
func TestReadmeRedLines(t *testing.T) {
	var source strings.Builder
	files, err := filepath.Glob(filepath.Join(root, "agent/doctor/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	names := firsts(readPage(t, "systemd/README.md").section("## A red line: what to do"), 1)
	if len(names) < 15 {
		t.Errorf("the table has only %q", names)
	}
	for _, name := range names {
		if name != "Atlas lock" && !strings.Contains(source.String(), `"`+name+`"`) && !strings.Contains(source.String(), `"`+name+` "`) {
			t.Errorf("systemd/README.md has the red line %s, which the doctor never prints", name)
		}
	}
}

// TestReadmePackages: the page for readers of the source names every package of
// the building, and none that is gone.
func TestReadmePackages(t *testing.T) {
	page, packages := readPage(t, "agent/README.md"), list(t)
	text := page.text
	for _, name := range firsts(page.section("## The house"), 1) {
		if _, ok := packages["agent/"+name]; !ok {
			t.Errorf("agent/README.md has the package %s, which there is not: remove its row", name)
		}
	}
	for name := range packages {
		below, ok := strings.CutPrefix(name, "agent/")
		if ok && !strings.HasSuffix(below, "test") && !regexp.MustCompile(`\b`+regexp.QuoteMeta(below)+`\b`).MatchString(text) {
			t.Errorf("agent/README.md does not have the package %s", below)
		}
	}
}

// TestReadmeKeys: the list of keys is what `roomgate man` makes of the example,
// and has every key that a configuration takes. -update writes it.
func TestReadmeKeys(t *testing.T) {
	p := readPage(t, "configs/README.md")
	before, rest, _ := strings.Cut(p.text, keysBegin)
	_, after, ok := strings.Cut(rest, keysEnd)
	if !ok {
		t.Fatalf("configs/README.md has no %s and %s", keysBegin, keysEnd)
	}
	r, err := readReference()
	if err != nil {
		t.Fatal(err)
	}
	want := before + keysBegin + "\n" + r.markdown() + keysEnd + after
	if *rewrite {
		if err := os.WriteFile(filepath.Join(root, p.name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if p.text != want {
		t.Error("configs/README.md is not what configs/gateway.yaml says: go test ./cmd/roomgate -run ReadmeKeys -update writes it")
	}
	own, perDriver, _ := strings.Cut(want, "\n## Options of the drivers\n")
	sameNames(t, "configs/README.md", keysIn(own), config.Keys(config.Config{}))
	for _, k := range all.All() {
		_, part, ok := strings.Cut(perDriver, "`"+k.Name+"`")
		if part, _, _ = strings.Cut(part, "\n### "); !ok {
			t.Errorf("configs/README.md has no options of %s", k.Name)
		}
		for _, key := range config.Keys(k.Options()) {
			if !slices.Contains(keysIn(part), key) {
				t.Errorf("configs/README.md does not have the option %s of %s", key, k.Name)
			}
		}
		known := config.Keys(k.Options())
		for _, key := range keysIn(part) {
			if !slices.Contains(known, key) {
				t.Errorf("configs/README.md has the option %s of %s, which does not exist", key, k.Name)
			}
		}
	}
}

const (
	keysBegin = "<!-- keys: made by go test ./cmd/roomgate -run ReadmeKeys -update -->"
	keysEnd   = "<!-- end of keys -->"
)

// keysIn are the keys that the entries of a list are about.
func keysIn(text string) (found []string) {
	for line := range strings.Lines(text) {
		if entry, ok := strings.CutPrefix(line, "- "); ok {
			tags, _, _ := strings.Cut(entry, ": ")
			for _, m := range tag.FindAllStringSubmatch(tags, -1) {
				found = append(found, m[1])
			}
		}
	}
	return found
}

// tag is a key, not the value behind it.
var tag = regexp.MustCompile("(?:^|, )`([^` ]+)`")

// loadYAML reads a YAML file of the tree.
func loadYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS(root), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Load(text, into); err != nil {
		t.Fatal(err)
	}
}
