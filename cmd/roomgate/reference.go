package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/config"
	"roomgate/configs"
	"roomgate/drivers"
	"roomgate/drivers/all"
)

// reference is what the commented example says about each key, for the manual
// page and for configs/README.md.
type reference struct {
	intro    string
	sections []referenceSection // one for each key at the top
	drivers  []referenceSection // one for each set of options
}

// referenceSection is a part of the configuration.
type referenceSection struct {
	titles  []string // keys, or drivers that have the same options
	text    string
	entries []referenceEntry
}

// referenceEntry is a text and the keys that it is about.
type referenceEntry struct {
	parent string
	tags   []referenceTag
	text   string
}

// referenceTag is a key and what it is without being set, or else an example.
type referenceTag struct {
	key, value string
	isDefault  bool
}

// exampleReader walks the example, with the settings switched on that it only shows.
type exampleReader struct {
	lines   []string // switched on
	written []string // as they stand in the file
	config  *config.Config
	seen    map[string]bool
}

// switchedOff is a setting that the example shows and does not use.
var switchedOff = regexp.MustCompile(`(?m)^(\s*)#([a-z0-9_-]+:( |$))`)

// readReference reads the example that is built in.
func readReference() (*reference, error) {
	c, err := config.Parse("gateway.yaml", configs.Gateway, all.All())
	if err != nil {
		return nil, err
	}
	on := switchedOff.ReplaceAllString(string(configs.Gateway), "$1$2")
	var root yaml.Node
	if err := yaml.Load([]byte(on), &root); err != nil {
		return nil, err
	}
	r := &exampleReader{lines: strings.Split(on, "\n"), written: strings.Split(string(configs.Gateway), "\n"), config: c}
	intro, _, _ := strings.Cut(string(configs.Gateway), "\n\n")
	found := &reference{intro: regexp.MustCompile(`(?m)^# ?`).ReplaceAllString(intro, "")}
	top := root.Content[0].Content
	r.seen = map[string]bool{}
	for i := 0; i < len(top); i += 2 {
		s := referenceSection{titles: []string{top[i].Value}, text: r.above(top[i])}
		if k, v := top[i], top[i+1]; v.Kind == yaml.ScalarNode {
			s.add(r, "", r.tag(k, v, k.Value, k.Value), "")
		} else {
			r.walk(&s, v, k.Value, k.Value, s.text)
		}
		found.sections = append(found.sections, s)
	}
	found.drivers = r.drivers(top[len(top)-1])
	return found, nil
}

// drivers has a section for each type of options, with what all devices of its
// drivers show.
func (r *exampleReader) drivers(spaces *yaml.Node) (found []referenceSection) {
	var keys [][]string // of the options, which tell one type from another
	for _, k := range all.All() {
		own := config.Keys(k.Options())
		if i := slices.IndexFunc(keys, func(other []string) bool { return slices.Equal(own, other) }); i >= 0 {
			found[i].titles = append(found[i].titles, k.Name)
			continue
		}
		keys, found = append(keys, own), append(found, referenceSection{titles: []string{k.Name}})
	}
	for i := range found {
		r.seen = map[string]bool{}
		for s, space := range spaces.Content {
			for d, device := range child(space, "devices").Content {
				if !slices.Contains(found[i].titles, child(device, "driver").Value) {
					continue
				}
				if len(found[i].entries) == 0 {
					found[i].text = r.above(device)
				}
				path := "spaces." + strconv.Itoa(s) + ".devices." + strconv.Itoa(d) + ".options"
				r.walk(&found[i], child(device, "options"), "", path, "")
			}
		}
	}
	return found
}

// child is what a mapping has at a key, or an empty node.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return &yaml.Node{}
}

// walk adds what is below a node. key is as config.Keys writes it, path as
// config.At wants it; text is about the node and has not been said yet.
func (r *exampleReader) walk(s *referenceSection, n *yaml.Node, key, path, text string) {
	if text == s.text {
		text = "" // the section says it
	}
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			r.walk(s, item, key+"[]", path+"."+strconv.Itoa(i), text)
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		about := r.above(k)
		if i == 0 {
			about = strings.TrimSpace(text + " " + about)
		}
		below, at := strings.TrimPrefix(key+"."+k.Value, "."), path+"."+k.Value
		switch {
		case below == "spaces[].devices[].options":
			s.add(r, key, referenceTag{key: below}, "What its driver takes, see the options of the drivers.")
		case v.Kind == yaml.MappingNode || v.Kind == yaml.SequenceNode && len(v.Content) > 0 && v.Content[0].Kind == yaml.MappingNode:
			r.walk(s, v, below, at, about)
		default:
			s.add(r, key, r.tag(k, v, below, at), about)
		}
	}
}

// add puts a key into an entry: its own if there is a text about it, else that
// of the key before.
func (s *referenceSection) add(r *exampleReader, parent string, t referenceTag, text string) {
	if r.seen[t.key] {
		return
	}
	r.seen[t.key] = true
	last := len(s.entries) - 1
	if text == "" && last >= 0 && s.entries[last].parent == parent {
		s.entries[last].tags = append(s.entries[last].tags, t)
		return
	}
	s.entries = append(s.entries, referenceEntry{parent: parent, tags: []referenceTag{t}, text: text})
}

// tag is a key with the value that the example shows.
func (r *exampleReader) tag(k, v *yaml.Node, key, path string) referenceTag {
	line := r.lines[k.Line-1]
	_, value, _ := strings.Cut(line, k.Value+":")
	value, _, _ = strings.Cut(value, " #")
	t := referenceTag{key: key, value: strings.TrimSpace(value)}
	if v.Kind == yaml.SequenceNode {
		t.key += "[]"
	}
	if r.written[k.Line-1] == line {
		return t // the example needs it
	}
	now, ok := config.At(r.config, path)
	t.isDefault = ok && holds(now, t.value)
	return t
}

// holds says whether a setting is what the example shows. Tests keep it to showing
// defaults, where there are any.
func holds(now any, shown string) bool {
	switch now.(type) {
	case drivers.Secret:
		return false
	case bool:
		return fmt.Sprint(now) == shown
	}
	nothing := []string{"0", "0s", `""`}
	return slices.Contains(nothing, shown) || !slices.Contains([]string{"", "0", "0s", "[]"}, fmt.Sprint(now))
}

// above is the comment on the lines before a node, or the one behind it.
func (r *exampleReader) above(n *yaml.Node) string {
	line := r.lines[n.Line-1]
	if strings.HasPrefix(strings.TrimSpace(line), "- ") && n.Kind == yaml.ScalarNode {
		_, behind, _ := strings.Cut(line, " # ")
		return sentence(behind)
	}
	var found []string
	for i := n.Line - 2; i >= 0; i-- {
		said, ok := strings.CutPrefix(strings.TrimSpace(r.lines[i]), "#")
		if !ok {
			break
		}
		found = append(found, strings.TrimSpace(said))
	}
	slices.Reverse(found)
	if _, behind, ok := strings.Cut(line, " # "); ok && n.Kind == yaml.ScalarNode {
		if len(found) > 0 && strings.HasSuffix(found[len(found)-1], ".") {
			behind = sentence(behind)
		}
		found = append(found, behind)
	}
	return sentence(strings.TrimSpace(strings.Join(found, " ")))
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	if word, _, _ := strings.Cut(text, " "); strings.ContainsAny(word, ":/.") {
		return text // a scheme or a name, which is written as it is
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
