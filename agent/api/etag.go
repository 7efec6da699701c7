package api

import "strings"

// held says whether If-None-Match names the tag of what would be answered (RFC
// 9110, 13.1.2): a list over any number of lines, compared weakly, or * for
// whatever there is. A list that cannot be read to its end names what came
// before.
func held(lines []string, tag string) bool {
	rest := strings.TrimSpace(strings.Join(lines, ","))
	if rest == "*" {
		return true
	}
	for rest != "" {
		rest = strings.TrimLeft(rest, ", \t")
		opaque, ok := strings.CutPrefix(strings.TrimPrefix(rest, "W/"), `"`)
		end := strings.IndexByte(opaque, '"')
		if !ok || end < 0 {
			return false
		}
		if `"`+opaque[:end]+`"` == strings.TrimPrefix(tag, "W/") {
			return true
		}
		rest = opaque[end+1:]
	}
	return false
}
