package config

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	// opens is a line with the key of a list of items of several keys, and what is behind the key.
	opens = regexp.MustCompile(`^([\s-]*)(spaces|devices|users):[ \t]*(.*?)\s*$`)
	// bareKey is a line that begins with a key and no dash.
	bareKey = regexp.MustCompile(`^\s*[a-z0-9_]+:(?:\s|$)`)
)

// undashed finds the first list whose first item has no dash, or has it in the line of the list's key,
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
		for below := i + 1; below < len(lines); below++ {
			bare := bytes.TrimLeft(lines[below], " ")
			if len(bytes.TrimSpace(bare)) == 0 || bare[0] == '#' {
				continue
			}
			if indent := len(lines[below]) - len(bare); indent > len(m[1]) && bareKey.Match(bare) {
				return below + 1, indent + 1, said
			}
			break
		}
	}
	return 0, 0, ""
}

// itemWords say how the items of a list begin, to somebody who has left that out.
func itemWords(key string) string {
	noun := strings.TrimSuffix(key[strings.LastIndexByte(key, '.')+1:], "s")
	if noun != "space" && noun != "device" && noun != "user" {
		return ""
	}
	return ": every " + noun + " starts with \"- \" on a line of its own"
}
