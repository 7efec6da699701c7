package setup

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// Answers are a piece of the configuration that grows as questions are
// answered.
type Answers struct{ root *yaml.Node }

// NewAnswers returns none.
func NewAnswers() *Answers { return &Answers{mapping()} }

// ReadAnswers reads a file of answers; name is what errors call it.
func ReadAnswers(name string, data []byte, o Options) (*Answers, error) {
	n, err := read(name, data, o.Kinds)
	return &Answers{n}, err
}

// Cell is a value with its place in the table that it comes from.
type Cell struct {
	Text         string
	Line, Column int // from 1; 0: it has no place
}

func (c Cell) node() *yaml.Node {
	n := scalar(c.Text)
	if c.Text == "true" { // a switch
		n = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: c.Text}
	}
	n.Line, n.Column = c.Line, c.Column
	return n
}

// Set gives a key, as "cloud.url", its value. An empty one is left out.
func (a *Answers) Set(key, value string) { a.SetCell(key, Cell{Text: value}) }

// SetCell is Set for a value of a table.
func (a *Answers) SetCell(key string, value Cell) {
	if value.Text != "" {
		a.put(key, value.node())
	}
}

// Empty gives a key an empty value, which what is laid over a file takes away.
func (a *Answers) Empty(key string) { a.put(key, scalar("")) }

func (a *Answers) put(key string, value *yaml.Node) { deep(a.root, key, value) }

// deep sets a key with dots below a mapping.
func deep(n *yaml.Node, key string, value *yaml.Node) {
	parts := strings.Split(key, ".")
	for _, name := range parts[:len(parts)-1] {
		n = within(n, name)
	}
	put(n, parts[len(parts)-1], value)
}

// BrokerUser adds a user of the room broker. Its topics come by Prepare, from the
// devices that are called like it.
func (a *Answers) BrokerUser(name, password string) {
	u := mapping()
	put(u, "name", scalar(name))
	put(u, "password", scalar(password))
	add(within(a.root, "broker"), "users", u)
}

// From begins the answers again with what a text says; what was set is laid
// over it. Its own keys have no place in the table.
func (a *Answers) From(base []byte) error {
	n, err := tree(base)
	if err != nil {
		return err
	}
	unplace(n)
	a.root = merged(n, a.root, "")
	return nil
}

func unplace(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		unplace(c)
	}
}

// Prepare is the function Prepare for these answers. They are completed by it.
func (a *Answers) Prepare(name string, o Options) (*Plan, error) { return prepare(name, a.root, o) }

// Space is a meeting space of answers.
type Space struct{ node *yaml.Node }

// Space adds a meeting space.
func (a *Answers) Space(name, timezone string) *Space {
	return a.SpaceOf(Option{"name", Cell{Text: name}}, Option{"timezone", Cell{Text: timezone}})
}

// SpaceOf adds a meeting space with the fields that are not empty.
func (a *Answers) SpaceOf(fields ...Option) *Space {
	s := mapping()
	s.Line, s.Column = fields[0].Value.Line, fields[0].Value.Column
	for _, f := range fields {
		if f.Value.Text != "" {
			put(s, f.Key, f.Value.node())
		}
	}
	add(a.root, "spaces", s)
	return &Space{s}
}

// Option is a key with its value.
type Option struct {
	Key   string
	Value Cell
}

// Device adds a device with the options that are not empty, given as key and
// value in turn; one within another is "temperature.topic".
func (s *Space) Device(driver string, options ...string) {
	var all []Option
	for i := 0; i+1 < len(options); i += 2 {
		all = append(all, Option{options[i], Cell{Text: options[i+1]}})
	}
	s.DeviceOf(driver, all...)
}

// DeviceOf adds a device with the options that are not empty.
func (s *Space) DeviceOf(driver string, options ...Option) {
	d := mapping()
	put(d, "driver", scalar(driver))
	for _, o := range options {
		if o.Value.Text == "" {
			continue
		}
		if d.Line == 0 {
			d.Line, d.Column = o.Value.Line, o.Value.Column
		}
		deep(within(d, "options"), o.Key, o.Value.node())
	}
	add(s.node, "devices", d)
}

func add(n *yaml.Node, name string, item *yaml.Node) {
	_, l := get(n, name)
	if l == nil || l.Kind != yaml.SequenceNode {
		l = list()
		put(n, name, l)
	}
	l.Content = append(l.Content, item)
}

// YAML is the answers as text.
func (a *Answers) YAML() ([]byte, error) {
	if len(a.root.Content) == 0 {
		return nil, nil
	}
	s, err := printed(a.root)
	return []byte(s), err
}
