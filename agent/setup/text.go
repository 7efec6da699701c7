package setup

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// text is a configuration as lines, of which one place is changed at a time.
type text struct {
	lines   []string
	changes int
}

// region is the lines of a mapping or list, from and before, and the blanks
// before its keys or dashes.
type region struct{ from, before, indent int }

func split(data []byte) []string {
	s := strings.TrimRight(string(data), "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func (t *text) String() string { return strings.Join(t.lines, "\n") + "\n" }

func blank(line string) bool { return strings.TrimSpace(line) == "" }

func comment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// end is the line behind what began in a line: all that is further in, with
// the comments there. The dashes of a list may be as far in as its key.
func (t *text) end(from, indent int, isList bool) int {
	end := from + 1
	for i := from + 1; i < len(t.lines); i++ {
		line := t.lines[i]
		deeper := indentOf(line) > indent
		dash := isList && indentOf(line) == indent && strings.HasPrefix(strings.TrimSpace(line), "- ")
		switch {
		case blank(line):
		case comment(line):
			if deeper {
				end = i + 1
			}
		case deeper || dash:
			end = i + 1
		default:
			return end
		}
	}
	return end
}

// mapping lays o over the mapping b, and ends after the first change.
func (t *text) mapping(b, o *yaml.Node, r region, path string) (changed bool, err error) {
	for i := 0; i+1 < len(o.Content); i += 2 {
		name, value := o.Content[i].Value, o.Content[i+1]
		key, before := get(b, name)
		if key == nil {
			return true, t.insert(b, r, name, value)
		}
		if changed, err := t.entry(key, before, value, below(path, name)); changed || err != nil {
			return changed, err
		}
	}
	return false, nil
}

// entry lays a value over that of a key.
func (t *text) entry(key, before, value *yaml.Node, path string) (bool, error) {
	want := merged(before, value, path)
	if same(before, want) {
		return false, nil
	}
	line, indent := key.Line-1, key.Column-1
	end := t.end(line, indent, before.Kind == yaml.SequenceNode)
	switch {
	case value.Kind == yaml.MappingNode && null(before) && before.Value == "" && len(value.Content) > 0:
		return true, t.insert(mapping(), region{line + 1, end, indent + 2}, value.Content[0].Value, value.Content[1])
	case value.Kind == yaml.MappingNode && before.Kind == yaml.MappingNode && !flow(before):
		return t.mapping(before, value, region{line + 1, end, before.Column - 1}, path)
	case value.Kind == yaml.SequenceNode && before.Kind == yaml.SequenceNode && !flow(before) && identity(path) != nil:
		return t.list(before, value, end, path)
	}
	lines, err := entryLines(key.Value, want, indent)
	if err != nil {
		return false, err
	}
	lines[0] = t.lines[line][:indent] + strings.TrimLeft(lines[0], " ")
	if (before.Kind == yaml.ScalarNode && len(lines) == 1 || hollow(before)) && before.LineComment != "" && want.LineComment == "" {
		lines[0] += " " + before.LineComment
	}
	if before.Kind == yaml.ScalarNode && before.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.Contains(before.Value, "\n") {
		end = line + 1 // what is below is comments
	}
	t.splice(line, end, lines)
	return true, nil
}

// list lays items over those of a list in block style, and appends the rest.
func (t *text) list(b, o *yaml.Node, end int, path string) (bool, error) {
	dash := indentOf(t.lines[b.Content[0].Line-1])
	var fresh []*yaml.Node
	for _, item := range o.Content {
		i := match(b, item, path)
		if i < 0 {
			fresh = append(fresh, item)
			continue
		}
		before := b.Content[i]
		want := merged(before, item, path)
		if another(before, item) {
			want = item
		}
		if same(before, want) {
			continue
		}
		line := before.Line - 1
		last := t.end(line, dash, false)
		if !flow(before) && !another(before, item) {
			return t.mapping(before, item, region{line, last, before.Column - 1}, path)
		}
		lines, err := itemLines(want, dash)
		if err != nil {
			return false, err
		}
		t.splice(line, last, lines)
		return true, nil
	}
	if len(fresh) == 0 {
		return false, nil
	}
	var lines []string
	for _, item := range fresh {
		one, err := itemLines(item, dash)
		if err != nil {
			return false, err
		}
		lines = append(lines, one...)
	}
	t.splice(end, end, lines)
	return true, nil
}

// insert puts a new key into a mapping: in place of the comment that shows it,
// or behind the last key.
func (t *text) insert(b *yaml.Node, r region, name string, value *yaml.Node) error {
	lines, err := entryLines(name, value, r.indent)
	if err != nil {
		return err
	}
	shown := regexp.MustCompile(`^ {` + strconv.Itoa(r.indent) + `}#` + regexp.QuoteMeta(name) + `:(?: [^#]*?)?( +#.*)?$`)
	for i := r.from; i < min(r.before, len(t.lines)); i++ {
		m := shown.FindStringSubmatch(t.lines[i])
		if m == nil {
			continue
		}
		if len(lines) == 1 {
			lines[0] += m[1]
		}
		t.splice(i, i+1, lines)
		return nil
	}
	where := r.before
	if n := len(b.Content); n > 0 {
		key, last := b.Content[n-2], b.Content[n-1]
		where = t.end(key.Line-1, key.Column-1, last.Kind == yaml.SequenceNode)
	}
	t.splice(where, where, lines)
	return nil
}

// splice puts lines in place of those from one and before another.
func (t *text) splice(from, before int, lines []string) {
	rest := append([]string(nil), t.lines[before:]...)
	t.lines = append(append(t.lines[:from:from], lines...), rest...)
}

// entryLines are a key with its value, so far in.
func entryLines(name string, value *yaml.Node, indent int) ([]string, error) {
	m := mapping()
	put(m, name, value)
	return indented(m, indent)
}

// itemLines are an item of a list with its dash, so far in.
func itemLines(item *yaml.Node, indent int) ([]string, error) { return indented(list(item), indent) }

func indented(n *yaml.Node, indent int) ([]string, error) {
	s, err := printed(n)
	lines := split([]byte(s))
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", indent) + line
		}
	}
	return lines, err
}
