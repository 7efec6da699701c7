// Package plan reads a simulated building from a file: the spaces, and every
// part with its place.
package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

// partKinds are the parts that a file may name, each with how it is made.
func partKinds() map[string]func() sim.Part {
	return map[string]func() sim.Part{
		"door":      func() sim.Part { return &sim.Door{} },
		"keypad":    func() sim.Part { return &sim.Keypad{} },
		"lamp":      func() sim.Part { return &sim.Lamp{} },
		"fan":       func() sim.Part { return &sim.Fan{} },
		"tmp102":    func() sim.Part { return &sim.TMP102{} },
		"sht31":     func() sim.Part { return &sim.SHT31{} },
		"mcp9808":   func() sim.Part { return &sim.MCP9808{} },
		"pir":       func() sim.Part { return &sim.PIR{} },
		"buzzer":    func() sim.Part { return &sim.Buzzer{} },
		"apa102":    func() sim.Part { return &sim.APA102{} },
		"ws2812":    func() sim.Part { return &sim.WS2812{} },
		"backlight": func() sim.Part { return &sim.Backlight{} },
		"tablet":    func() sim.Part { return &sim.Tablet{} },
		"o3":        func() sim.Part { return &peers.O3{} },
		"camera":    func() sim.Part { return &peers.Camera{} },
		"gadget":    func() sim.Part { return &peers.Gadget{} },
		"webcam":    func() sim.Part { return &sim.Webcam{} },
	}
}

// placed are the keys that say where a part is; the others are the part's own.
type placed struct {
	Space  string `yaml:"space"`
	Device string `yaml:"device"`
	Part   string `yaml:"part"`
}

// Parse builds a world from YAML:
//
//	spaces:
//	  - {id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: Aurora}
//	parts:
//	  - {space: aurora, device: lock, part: door, relay: aurora.lock.relay}
//
// The list of spaces may be left out; it lets Control find a space by its id.
// An error names the line and what was not understood.
func Parse(data []byte) (*sim.World, error) {
	var file struct {
		Spaces []struct {
			ID   string `yaml:"id"`
			Name string `yaml:"name"`
		} `yaml:"spaces"`
		Parts []yaml.Node `yaml:"parts"`
	}
	if err := yaml.Load(data, &file, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("simulated world: %w", err)
	}
	w := sim.NewWorld()
	for _, s := range file.Spaces {
		w.Alias(s.Name, s.ID)
	}
	var problems []error
	for _, node := range file.Parts {
		if err := build(w, &node); err != nil {
			problems = append(problems, fmt.Errorf("simulated world: line %d: %w", node.Line, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// build adds one part.
func build(w *sim.World, node *yaml.Node) error {
	where, own, err := split(node)
	if err != nil {
		return err
	}
	if where.Space == "" || where.Device == "" {
		return errors.New("space and device must be given")
	}
	newPart, ok := partKinds()[where.Part]
	if !ok {
		return fmt.Errorf("part %q is not known: want one of %s", where.Part,
			strings.Join(slices.Sorted(maps.Keys(partKinds())), ", "))
	}
	p := newPart()
	if err := own.Load(p, yaml.WithKnownFields()); err != nil {
		return err
	}
	return w.Add(where.Space, where.Device, p)
}

// split parts the keys that say where from those of the part itself.
func split(node *yaml.Node) (where placed, own *yaml.Node, err error) {
	if node.Kind != yaml.MappingNode {
		return where, nil, errors.New("a part must be a mapping")
	}
	here := *node
	rest := *node
	here.Content, rest.Content = nil, nil
	for i := 0; i+1 < len(node.Content); i += 2 {
		to := &rest
		switch node.Content[i].Value {
		case "space", "device", "part":
			to = &here
		}
		to.Content = append(to.Content, node.Content[i], node.Content[i+1])
	}
	err = here.Load(&where, yaml.WithKnownFields())
	return where, &rest, err
}
