package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Part is a meeting space or a device that is laid over those of the file, in
// the file's own keys as JSON or YAML. What it names replaces what is there; of
// a device's options it replaces the whole.
type Part struct {
	// Name begins the keys in errors, as "devices[0]"; empty: nothing does.
	Name string
	// SpaceID is the space of a device; empty: the part is a space. A space's
	// devices are parts of their own.
	SpaceID string
	// ID is whose part it is.
	ID   string
	Data []byte
}

// Lay returns the spaces of the file with the parts laid over them, in order,
// then those that only the parts have. Nothing of c changes. The error is
// *Errors, of which each problem has a key that begins with its part's name.
func (c *Config) Lay(parts ...Part) ([]Space, error) {
	l := &layer{reader: reader{file: "what was added", kinds: c.kinds, origins: map[string]Origin{}}, names: map[string]string{}}
	l.spaces = slices.Clone(c.Spaces)
	for i := range l.spaces {
		l.spaces[i].Devices = slices.Clone(l.spaces[i].Devices)
	}
	for _, p := range parts {
		l.lay(p)
	}
	l.reader.spaces(l.spaces)
	for i := range l.spaces {
		l.spaces[i].Calendar.Added = i >= len(c.Spaces) || l.spaces[i].Calendar.URL != c.Spaces[i].Calendar.URL
	}
	if len(l.problems) == 0 {
		return l.spaces, nil
	}
	for i := range l.problems {
		l.rename(&l.problems[i])
	}
	return nil, &Errors{Problems: l.problems}
}

// cloned is what a pointer leads to once more, with all that it leads to by
// pointers. Lists are replaced whole by who lays something over them.
func cloned(p reflect.Value) reflect.Value {
	if p.IsNil() {
		return p
	}
	c := reflect.New(p.Type().Elem())
	c.Elem().Set(p.Elem())
	if c.Elem().Kind() != reflect.Struct {
		return c
	}
	for i := range c.Elem().NumField() {
		if f := c.Elem().Field(i); f.Kind() == reflect.Pointer && f.CanSet() {
			f.Set(cloned(f))
		}
	}
	return c
}

// layer is a reader that knows which part each key is of.
type layer struct {
	reader
	spaces []Space
	names  map[string]string // of parts, by the key of what they are laid over
}

func (l *layer) lay(p Part) {
	before := len(l.problems)
	node := l.document(p.Data)
	for i := before; i < len(l.problems); i++ { // not YAML at all
		l.problems[i].Key = p.Name
	}
	if len(l.problems) > before {
		return
	}
	key, into, ok := l.spot(p)
	if !ok {
		l.add(Origin{Name: l.file}, p.Name, "meeting_space_id is not a meeting space of this building")
		return
	}
	l.names[key] = p.Name
	if node == nil {
		node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	if p.SpaceID == "" && slices.ContainsFunc(node.Content, func(n *yaml.Node) bool { return n.Value == "devices" }) {
		l.refuse(key+".devices", "are not taken here: name each as a device of its own")
		return
	}
	l.noFiles(node, key)
	l.value(into, node, key)
}

// noFiles refuses names of files: what was added comes over the network, and
// who sends it could have the gateway read any file to anybody.
func (l *layer) noFiles(n *yaml.Node, key string) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		name := join(key, n.Content[i].Value)
		if strings.HasSuffix(name, "_file") {
			l.refuse(name, "is not taken here: only the configuration file names files")
		}
		l.noFiles(n.Content[i+1], name)
	}
}

// spot finds what a part is laid over, or makes room for it.
func (l *layer) spot(p Part) (key string, into reflect.Value, ok bool) {
	spaceID := p.SpaceID
	if spaceID == "" {
		spaceID = p.ID
	}
	i := slices.IndexFunc(l.spaces, func(s Space) bool { return s.ID == spaceID })
	switch {
	case i < 0 && p.SpaceID != "":
		return "", into, false
	case i < 0:
		i = len(l.spaces)
		l.spaces = append(l.spaces, Space{})
		l.spaces[i].defaults()
		l.spaces[i].ID = p.ID
	}
	key = fmt.Sprintf("spaces[%d]", i)
	if p.SpaceID == "" {
		return key, reflect.ValueOf(&l.spaces[i]).Elem(), true
	}
	devices := &l.spaces[i].Devices
	j := slices.IndexFunc(*devices, func(d Device) bool { return d.ID == p.ID })
	if j < 0 {
		j = len(*devices)
		*devices = append(*devices, Device{})
		(*devices)[j].defaults()
		(*devices)[j].ID = p.ID
	}
	return fmt.Sprintf("%s.devices[%d]", key, j), reflect.ValueOf(&(*devices)[j]).Elem(), true
}

// rename lets a problem speak of the part instead of where it was laid.
func (l *layer) rename(p *Problem) {
	longest := ""
	for key := range l.names {
		rest, within := strings.CutPrefix(p.Key, key)
		if within && len(key) > len(longest) && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			longest = key
		}
	}
	if longest == "" {
		return
	}
	name := l.names[longest]
	key := strings.TrimPrefix(join(name, strings.TrimPrefix(p.Key[len(longest):], ".")), ".")
	p.Message = strings.TrimSpace(strings.Replace(p.Message, p.Key, key, 1))
	p.Message = strings.ReplaceAll(p.Message, longest, strings.TrimSuffix(name, "."))
	p.Key = key
}
