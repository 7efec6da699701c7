package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// plainKeys are those whose text tells nothing of anybody: by the last key of a
// path, or by its last two.
var plainKeys = []string{"gateway.id", "listen", "trust", "acks", "spaces.id", "timezone", "devices.id", "devices.type", "spaces.type",
	"driver", "dialect", "off_after", "holiday_region"}

// plainValues are texts that tell nothing under any key that is not private.
var plainValues = regexp.MustCompile(`^(true|false|null|~|[-+]?[0-9.]+ ?(ms|s|m|h|d|%|[KMG]i?B|Hz)?|([0-9]+[hms])+|GPIO[0-9]+|/dev/(i2c|spidev|ttyUSB|ttyAMA|video)[0-9.-]*|[A-Z]{2}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// privateKeys are those whose value is private whatever it looks like.
var privateKeys = regexp.MustCompile(`pass|secret|token|pin|code|key|user|name|mail|street|city|state|zip|country|location|floor|room|address|customer|created_by|organization|external|url|topic|logo|from|people|phone|serial|title|note`)

// plainName is what a key looks like that is one of ours.
var plainName = regexp.MustCompile(`^[a-z0-9_]+$`)

// Redact returns a configuration as one line for each value, with only those
// that are nobody's secret and tell nothing of anybody, and what was removed.
// Comments are left out. Of a text that is not YAML nothing is left.
func Redact(text []byte) (lines string, removed []string) {
	var out strings.Builder
	counts := map[string]int{}
	walk(text, func(path []string, n *yaml.Node) {
		path = slices.Clone(path)
		for i, key := range path {
			if len(key) > 40 || !plainName.MatchString(key) {
				path[i] = "[removed]"
				removed = append(removed, key)
			}
		}
		where, value := strings.Join(path, "."), n.Value
		if !keptPlain(path, value) {
			if value != "" {
				removed = append(removed, value)
				value = "[removed]"
			}
		}
		counts[where]++
		fmt.Fprintf(&out, "%s[%d]: %s\n", where, counts[where], value)
	})
	return out.String(), removed
}

func keptPlain(path []string, value string) bool {
	if value == "true" || value == "false" {
		return true
	}
	last := path[len(path)-1]
	both := last
	if len(path) > 1 {
		both = path[len(path)-2] + "." + last
	}
	if slices.Contains(plainKeys, last) || slices.Contains(plainKeys, both) {
		return true
	}
	return !privateKeys.MatchString(last) && plainValues.MatchString(value)
}
