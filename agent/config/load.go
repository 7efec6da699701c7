package config

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/atomicfile"
	"roomgate/drivers"
)

// maxFile bounds a configuration file: a building of 256 spaces takes about
// a third of it.
const maxFile = 1 << 20

// Setting is one scalar laid over the file: a flag or a variable of the
// environment.
type Setting struct {
	Key    string // as "http.listen"
	Value  string
	Origin string // as "--listen" or "ROOMGATE_LISTEN"
}

// Load reads the file at path, lays over it what is set, and checks the
// result. Later settings win. The error is *Errors if the file was readable.
func Load(path string, kinds []drivers.Kind, set ...Setting) (*Config, error) {
	data, err := atomicfile.Read(path, 0, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	c, err := Parse(path, data, kinds, set...)
	if err != nil {
		return nil, err
	}
	c.beside(path)
	return c, nil
}

// Read is Load of what comes from elsewhere, as by a pipe; name is what errors call it.
func Read(name string, from io.Reader, kinds []drivers.Kind, set ...Setting) (*Config, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(name, data, kinds, set...)
}

// Parse is Load for data that is already read; name is what errors call it.
// The error is always *Errors.
func Parse(name string, data []byte, kinds []drivers.Kind, set ...Setting) (*Config, error) {
	c := Default()
	c.origins, c.kinds = map[string]Origin{}, kinds
	r := &reader{file: name, kinds: kinds, origins: c.origins}
	root := r.document(data)
	if len(r.problems) > 0 { // a file that is not YAML says nothing about values
		return nil, &Errors{Problems: r.problems}
	}
	if root != nil {
		r.value(reflect.ValueOf(&c).Elem(), root, "")
	}
	for _, s := range set {
		r.set(&c, s)
	}
	c.cut = r.cut
	r.check(&c)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, byPlace)
		return nil, &Errors{Problems: r.problems, read: &c}
	}
	return &c, nil
}

// Origin says where a setting comes from: a file with line and column, or a
// flag or variable by its name.
type Origin struct {
	Name         string
	Line, Column int // 0 if Name is not a file
}

// Origin returns where the setting of that key, as "cloud.url", comes from. It
// is false for a default.
func (c *Config) Origin(key string) (Origin, bool) {
	o, ok := c.origins[key]
	return o, ok
}

// document returns the one value in data, nil if there is none or data is not
// YAML.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > maxFile {
		r.add(Origin{Name: r.file}, "", fmt.Sprintf("is larger than %d bytes: split the building", maxFile))
		return nil
	}
	if line, column := Garbled(data); line > 0 {
		r.add(Origin{r.file, line, column}, "", "is not UTF-8 here: save the file as UTF-8")
		return nil
	}
	if line, column := steering(data); line > 0 {
		r.add(Origin{r.file, line, column}, "", "not YAML: a control character is here, which an editor may not show: delete it")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		r.syntax(data, err)
		return nil
	}
	var first, second yaml.Node
	if err := loader.Load(&first); err != nil {
		r.syntax(data, err)
		return nil
	}
	if err := loader.Load(&second); err == nil {
		r.add(r.place(&second), "", "a second document starts here: a configuration is one document")
	} else {
		r.syntax(data, err)
	}
	return first.Content[0]
}

// set lays one setting over the configuration.
func (r *reader) set(c *Config, s Setting) {
	v := reflect.ValueOf(c).Elem()
	for name := range parts(s.Key) {
		f, ok := find(v, name)
		if !ok {
			r.add(Origin{Name: s.Origin}, s.Key, fmt.Sprintf("there is no setting %q", s.Key))
			return
		}
		v = f
	}
	if err := scalar(v, s.Value); err != nil {
		r.add(Origin{Name: s.Origin}, s.Key, s.Key+" "+err.Error())
		return
	}
	r.origins[s.Key] = Origin{Name: s.Origin}
}
