package setup

import (
	"context"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/config"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

// Machine is what devices are added to while a gateway runs there.
type Machine struct {
	Kinds []drivers.Kind
	// Look finds what the board has; nil: it is no board, and names are taken as they are.
	Look func(ctx context.Context) Board
	// Hubs looks for O3 hubs in the networks of the machine; nil: nobody looks. It takes
	// half a minute at most.
	Hubs func(ctx context.Context) []string
	// Judge refuses what of a building cannot work; nil: nobody does.
	Judge func(ctx context.Context, spaces []config.Space) error
}

// Board is what the machine has now.
func (m Machine) Board(ctx context.Context) Board {
	if m.Look == nil {
		return Board{}
	}
	return m.Look(ctx)
}

// Document is the configuration of a device as JSON in the keys of the file, from
// answers by the keys of their questions. Refusals name the key.
func (w Way) Document(said map[string]string, spaceID string, board Board) (json.RawMessage, error) {
	for _, q := range w.Asks {
		answer := strings.TrimSpace(said[q.Key])
		var err error
		switch {
		case answer == "" && q.Needed:
			return nil, problem.New(problem.Invalid, q.Key, "is missing: want %s", q.Help)
		case answer == "" || q.Switch:
		case q.Check != nil:
			err = q.Check(answer)
		default:
			err = board.Judge(q.Of, answer)
		}
		if err != nil {
			return nil, problem.New(problem.Invalid, q.Key, "%s", wanted(err.Error()))
		}
	}
	device := mapping()
	put(device, "type", scalar(w.Type))
	put(device, "driver", scalar(w.Driver))
	if w.Type == drivers.TypeDisplay {
		put(within(device, "options"), "page", scalar(spaceID))
	}
	options := w.Options(said)
	for i := 0; i+1 < len(options); i += 2 {
		deep(within(device, "options"), options[i], Cell{Text: options[i+1]}.node())
	}
	return asJSON(device)
}

// wanted is what is wrong with a field, as a clause about it.
func wanted(text string) string {
	if strings.HasPrefix(text, "want ") || strings.HasPrefix(text, "there is ") {
		return "is not right: " + text
	}
	return text
}

func asJSON(n *yaml.Node) (json.RawMessage, error) {
	var v map[string]any
	if err := n.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
