package setup

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/config"
	"roomgate/drivers"
)

// maxAnswers bounds answers and seeds, as the configuration is bounded.
const maxAnswers = 1 << 20

// read returns the tree of answers. Its errors are *config.Errors: what is not
// YAML, keys that are there twice, and what a configuration does not take in
// YAML either.
func read(name string, data []byte, kinds []drivers.Kind) (*yaml.Node, error) {
	if len(data) > maxAnswers {
		return nil, wrong(name, &yaml.Node{}, fmt.Sprintf("is larger than %d bytes", maxAnswers))
	}
	if line, column := config.Garbled(data); line > 0 {
		return nil, wrong(name, &yaml.Node{Line: line, Column: column}, "is not UTF-8 here: save the file as UTF-8")
	}
	n, err := tree(data)
	if err != nil {
		return nil, notYAML(name, data, kinds, err)
	}
	var all config.Errors
	strict(name, n, &all)
	if len(all.Problems) > 0 {
		return nil, &all
	}
	return n, nil
}

// notYAML says in words why a text is no mapping of YAML, in place of the reason of the parser.
func notYAML(name string, data []byte, kinds []drivers.Kind, why error) error {
	var problems *config.Errors
	if _, parsed := config.Parse(name, data, kinds); errors.As(parsed, &problems) {
		return problems
	}
	return wrong(name, &yaml.Node{}, why.Error())
}

func strict(name string, n *yaml.Node, all *config.Errors) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		all.Problems = append(all.Problems, wrong(name, n, "starts with *, & or !: put a text that starts so in quotes").Problems...)
		return
	}
	seen := map[string]int{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if line, twice := seen[c.Value]; twice {
				all.Problems = append(all.Problems, wrong(name, c, fmt.Sprintf("%s is already in line %d", c.Value, line)).Problems...)
			}
			seen[c.Value] = c.Line
			continue
		}
		strict(name, c, all)
	}
}

// wrong is one problem at a node.
func wrong(file string, n *yaml.Node, message string) *config.Errors {
	return &config.Errors{Problems: []config.Problem{{File: file, Line: n.Line, Column: n.Column, Message: message}}}
}
