package config

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

var (
	// opens is a line with the key of a list of items of several keys, and what is behind the key.
	opens = regexp.MustCompile(`^([\s-]*)(spaces|devices|users):[ \t]*(.*?)\s*$`)
	// bareItem is an item that begins with a key or a brace, and no dash.
	bareItem = regexp.MustCompile(`^\s*(?:[a-z0-9_]+:(?:\s|$)|\{)`)
)

// undashed finds the first list of which an item has no dash, the first one or one in braces, or has it in the line of the list's key,
// which a parser of YAML notices far behind, or nowhere. Line 0: there is none.
func undashed(text []byte) (line, column int, message string) {
	lines := bytes.Split(text, []byte("\n"))
	for i, l := range lines {
		m := opens.FindSubmatch(l)
		if m == nil {
			continue
		}
		said := "no dash is here" + itemWords(string(m[2]))
		switch behind := m[3]; {
		case bytes.HasPrefix(behind, []byte("- ")):
			return i + 1, bytes.LastIndex(l, behind) + 1, "a dash is in the line of " + string(m[2]) + itemWords(string(m[2]))
		case len(behind) > 0 && behind[0] != '#':
			continue
		}
		if below, column := undashedItem(lines[i+1:], len(m[1])); below > 0 {
			return i + 1 + below, column, said
		}
	}
	return 0, 0, ""
}

// undashedItem finds it among the lines below the key of a list, which is indented so far. Line 0: there is none.
func undashedItem(lines [][]byte, key int) (line, column int) {
	dash := -1
	for i, l := range lines {
		bare := bytes.TrimLeft(l, " ")
		if len(bytes.TrimSpace(bare)) == 0 || bare[0] == '#' {
			continue
		}
		indent := len(l) - len(bare)
		switch {
		case dash < 0 && indent > key && bareItem.Match(bare), indent == dash && bare[0] == '{':
			return i + 1, indent + 1
		case dash < 0 && dashed.Match(l):
			dash = indent
		case indent < dash || dash < 0:
			return 0, 0
		}
	}
	return 0, 0
}

// glued is what looks like a key without what makes it one: the blank behind its colon, or the colon.
var glued = regexp.MustCompile(`^([a-z0-9_]+)(:?)`)

// nearKey says what is missing where a key stands that is none yet. Only a key that is known is repeated: the text
// may be half of a password.
func nearKey(v reflect.Value, n *yaml.Node) string {
	m := glued.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 || m == nil {
		return ""
	}
	_, known := find(v, m[1])
	switch behind := n.Value[len(m[0]):]; {
	case !known:
	case m[2] != "":
		return fmt.Sprintf(": a blank is missing behind the colon of %s", m[1])
	case behind == "" || behind[0] == ' ':
		return fmt.Sprintf(": a colon is missing behind %s", m[1])
	}
	return ""
}

// itemWords say how the items of a list begin, to somebody who has left that out.
func itemWords(key string) string {
	noun := strings.TrimSuffix(key[strings.LastIndexByte(key, '.')+1:], "s")
	if noun != "space" && noun != "device" && noun != "user" {
		return ""
	}
	return ": every " + noun + " starts with \"- \" on a line of its own"
}
