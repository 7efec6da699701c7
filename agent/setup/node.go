package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"go.yaml.in/yaml/v4"
)

// tree reads one YAML document; an empty one is an empty mapping.
func tree(data []byte) (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var n yaml.Node
	err = loader.Load(&n)
	if errors.Is(err, io.EOF) || err == nil && (len(n.Content) == 0 || null(n.Content[0])) {
		return mapping(), nil
	}
	if err != nil {
		return nil, err
	}
	if n.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("want keys with values")
	}
	return n.Content[0], nil
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// scalar is a text; the printer quotes it where it must.
func scalar(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func flow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// get returns the key and the value of that name, or nil.
func get(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// at follows names from mapping to mapping.
func at(n *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		_, n = get(n, name)
	}
	return n
}

// word is the text of a key, empty if it has none.
func word(n *yaml.Node, name string) string {
	if _, v := get(n, name); v != nil && v.Kind == yaml.ScalarNode && !null(v) {
		return v.Value
	}
	return ""
}

// put sets a key, where it stands or at the end.
func put(n *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, scalar(name), value)
}

// drop takes a key away.
func drop(n *yaml.Node, name string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
			return
		}
	}
}

// within returns the mapping of that name, which is made if it is not there.
func within(n *yaml.Node, name string) *yaml.Node {
	_, v := get(n, name)
	if v == nil || v.Kind != yaml.MappingNode {
		v = mapping()
		put(n, name, v)
	}
	return v
}

// items are the mappings of a list.
func items(n *yaml.Node) (all []*yaml.Node) {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range n.Content {
		if item.Kind == yaml.MappingNode {
			all = append(all, item)
		}
	}
	return all
}

// printed is a node as text, in the style of the example configuration.
func printed(n *yaml.Node) (string, error) {
	out, err := yaml.Dump(n, yaml.WithIndent(2), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
	if err != nil {
		return "", fmt.Errorf("print configuration: %w", err)
	}
	return string(out), nil
}

// same says whether two trees mean the same.
func same(a, b *yaml.Node) bool {
	var x, y any
	return a.Decode(&x) == nil && b.Decode(&y) == nil && reflect.DeepEqual(x, y)
}

// step goes one name or number down; the name is nil in a list.
func step(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		return get(n, name)
	}
	var i int
	if _, err := fmt.Sscanf(name, "%d", &i); err != nil || i < 0 || i >= len(n.Content) {
		return nil, nil
	}
	return nil, n.Content[i]
}
