package setup

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Lay returns the text base with the keys of over laid over it: what it says
// replaces what is there, what is new is put in, nothing is taken away, and
// comments stay. Where a setting is explained by a line "#key: ...", that line
// becomes the setting. Spaces, devices and users are matched by id, spaces by
// name and devices by type where they have none; other lists are replaced.
func Lay(base, over []byte) ([]byte, error) {
	o, err := tree(over)
	if err != nil {
		return nil, err
	}
	before, err := tree(base)
	if err != nil {
		return nil, err
	}
	want := merged(before, o, "")
	t := &text{lines: split(base)}
	for changed := true; changed; {
		root, err := tree([]byte(t.String()))
		if err != nil {
			return nil, fmt.Errorf("a change left no YAML: %w: make it by hand", err)
		}
		if changed, err = t.mapping(root, o, region{0, len(t.lines), 0}, ""); err != nil {
			return nil, err
		}
		if t.changes++; t.changes > count(o) {
			return nil, errLayout
		}
	}
	got, err := tree([]byte(t.String()))
	if err != nil || !same(got, want) {
		return nil, errLayout
	}
	return []byte(t.String()), nil
}

// count is how many nodes a tree has: each is laid once at most.
func count(n *yaml.Node) int {
	all := 1
	for _, c := range n.Content {
		all += count(c)
	}
	return all
}

var errLayout = fmt.Errorf("the file is written in a way that cannot be changed line by line: write its lists and mappings as the example does, one key to a line")

// identity names the keys by which the items of a list are matched, the first
// that both have; none: the list is replaced.
func identity(path string) []string {
	switch path {
	case "spaces":
		return []string{"id", "name"}
	case "spaces.devices":
		return []string{"id", "type"}
	case "users":
		return []string{"id"}
	case "broker.users":
		return []string{"name"}
	}
	return nil
}

// match finds the item that another one is laid over, or -1. An item without
// a name is only matched by its like.
func match(in *yaml.Node, item *yaml.Node, path string) int {
	named := false
	for _, key := range identity(path) {
		want := word(item, key)
		if want == "" {
			continue
		}
		named = true
		for i, n := range in.Content {
			if strings.EqualFold(word(n, key), want) {
				return i
			}
		}
	}
	if named {
		return -1
	}
	return slices.IndexFunc(in.Content, func(n *yaml.Node) bool { return same(n, item) })
}

// another says whether an item is another device than before, whose options
// mean nothing to it.
func another(before, item *yaml.Node) bool {
	a, b := word(before, "driver"), word(item, "driver")
	return a != "" && b != "" && a != b
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// hollow says whether a mapping or a list has nothing in it, as "spaces: []". What
// comes into it keeps no style of it: all on one line.
func hollow(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode && len(n.Content) == 0 }

// merged is what Lay comes to, as a tree.
func merged(b, o *yaml.Node, path string) *yaml.Node {
	switch {
	case b == nil || null(b) || hollow(b) && b.Kind == o.Kind:
		return o
	case o.Kind == yaml.MappingNode && b.Kind == yaml.MappingNode:
		m := *b
		m.Content = append([]*yaml.Node(nil), b.Content...)
		for i := 0; i+1 < len(o.Content); i += 2 {
			name := o.Content[i].Value
			_, before := get(b, name)
			put(&m, name, merged(before, o.Content[i+1], below(path, name)))
		}
		return &m
	case o.Kind == yaml.SequenceNode && b.Kind == yaml.SequenceNode && identity(path) != nil:
		m := *b
		m.Content = append([]*yaml.Node(nil), b.Content...)
		for _, item := range o.Content {
			switch i := match(&m, item, path); {
			case i < 0:
				m.Content = append(m.Content, item)
			case another(m.Content[i], item):
				m.Content[i] = item
			default:
				m.Content[i] = merged(m.Content[i], item, path)
			}
		}
		return &m
	}
	return o
}
