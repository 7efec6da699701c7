package setup

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/config"
)

// twins refuses answers that say one thing twice: rooms and users of one name, and devices
// of one type in a room. Which of the two holds, nobody can know.
func twins(name string, over *yaml.Node, base string) error {
	var all config.Errors
	find := func(in *yaml.Node, path string, say func(before, again *yaml.Node) string) {
		list := items(in)
		for i, again := range list {
			at := slices.IndexFunc(list[:i], func(before *yaml.Node) bool { return twin(before, again, path) })
			if at < 0 {
				continue
			}
			before := list[at]
			where := ""
			switch {
			case before.Line > 0:
				where = fmt.Sprintf(" in line %d", before.Line)
			case base != "":
				where = " in " + base
			}
			all.Problems = append(all.Problems, wrong(name, again, say(before, again)+where).Problems...)
		}
	}
	called := func(what string) func(_, again *yaml.Node) string {
		return func(_, again *yaml.Node) string {
			n, id := word(again, "name"), word(again, "id")
			if n == "" {
				n = id
			}
			return what + " " + n + " is already there"
		}
	}
	find(at(over, "spaces"), "spaces", called("room"))
	find(at(over, "users"), "users", called("user"))
	find(at(at(over, "broker"), "users"), "broker.users", called("room broker: user"))
	for _, s := range items(at(over, "spaces")) {
		find(at(s, "devices"), "spaces.devices", func(before, _ *yaml.Node) string {
			article := "a "
			if strings.HasPrefix(word(before, "type"), "o") {
				article = "an "
			}
			return "room " + word(s, "name") + " already has " + article + word(before, "type") + wiredTo(before)
		})
	}
	if len(all.Problems) > 0 {
		return &all
	}
	return nil
}

// twin says whether two items are laid over the same one.
func twin(a, b *yaml.Node, path string) bool {
	return slices.ContainsFunc(identity(path), func(key string) bool {
		return word(a, key) != "" && strings.EqualFold(word(a, key), word(b, key))
	})
}

// wiredTo is where a device is, as " on GPIO17": the first of its options.
func wiredTo(d *yaml.Node) string {
	options := at(d, "options")
	if options == nil || len(options.Content) < 2 || options.Content[1].Kind != yaml.ScalarNode {
		return ""
	}
	if isSecret(options.Content[0].Value, options.Content[1]) {
		return ""
	}
	return " on " + options.Content[1].Value
}
