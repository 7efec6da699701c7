package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/printable"
)

// Garbled returns the line and the column, from 1, at which a text is not UTF-8, as
// of an editor or a spreadsheet that writes another encoding; 0, 0: it is.
func Garbled(text []byte) (line, column int) {
	line, column = 1, 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			return line, column
		case r == '\n':
			line, column = line+1, 0
		}
		text, column = text[size:], column+1
	}
	return 0, 0
}

// steering finds the first control character in a text that YAML does not take.
func steering(text []byte) (line, column int) {
	at := bytes.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' })
	if at < 0 {
		return 0, 0
	}
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	return bytes.Count(text[:at], []byte("\n")) + 1, utf8.RuneCount(text[start:at]) + 1
}

// seen refuses a text with characters that nobody sees and that change what is seen, as HTTP refuses it.
func seen(text string) error {
	if printable.Lines(text) {
		return nil
	}
	return errors.New("it holds a character that nobody sees, as a terminal obeys it or as it turns text round: take it out")
}

// NamedFiles lists the files that a configuration names by path: of passwords,
// tokens, certificates and keys. A text that is not YAML names none.
func NamedFiles(text []byte) (names []string) {
	walk(text, func(path []string, n *yaml.Node) {
		if n.Value != "" && namesFile(path) && !slices.Contains(names, n.Value) {
			names = append(names, n.Value)
		}
	})
	return names
}

func namesFile(path []string) bool {
	key := path[len(path)-1]
	switch key {
	case "certificate", "client_certificate", "client_key":
		return true
	case "key":
		return len(path) > 1 && path[len(path)-2] == "tls"
	}
	return strings.HasSuffix(key, "_file")
}

// WithGateway returns a configuration's text with another gateway.id and
// nothing else changed.
func WithGateway(text []byte, id string) ([]byte, error) {
	if !isID(id) {
		return nil, fmt.Errorf("gateway.id %q cannot be: want 1 to 64 of a-z A-Z 0-9 . _ -", short(id))
	}
	at := gatewayNode(text)
	if at == nil {
		return nil, errors.New("the configuration has no gateway.id to change: write one into it")
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	line := lines[at.Line-1]
	before, rest := line[:at.Column-1], line[at.Column-1:]
	for _, old := range []string{strconv.Quote(at.Value), "'" + at.Value + "'", at.Value} {
		if after, ok := bytes.CutPrefix(rest, []byte(old)); ok {
			lines[at.Line-1] = slices.Concat(before, []byte(strconv.Quote(id)), after)
			break
		}
	}
	changed := bytes.Join(lines, nil)
	if now := gatewayNode(changed); now == nil || now.Value != id {
		return nil, errors.New("gateway.id of the configuration is written in a way that cannot be changed by machine: write it as id: NAME")
	}
	return changed, nil
}

func gatewayNode(text []byte) (found *yaml.Node) {
	walk(text, func(path []string, n *yaml.Node) {
		if slices.Equal(path, []string{"gateway", "id"}) {
			found = n
		}
	})
	return found
}

// walk calls f for every scalar of a YAML text with the keys that lead to it.
// The items of a list have the list's.
func walk(text []byte, f func(path []string, n *yaml.Node)) {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return
	}
	var root yaml.Node
	if loader.Load(&root) == nil {
		walkNode(&root, []string{""}, f)
	}
}

func walkNode(n *yaml.Node, path []string, f func([]string, *yaml.Node)) {
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, item := range n.Content {
			walkNode(item, path, f)
		}
	case yaml.MappingNode:
		if path[0] == "" {
			path = nil
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			walkNode(n.Content[i+1], append(slices.Clone(path), n.Content[i].Value), f)
		}
	case yaml.ScalarNode:
		f(path, n)
	}
}
