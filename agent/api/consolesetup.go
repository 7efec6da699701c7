package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// consoleSetup adds a meeting space or a device as the console asks for them, or takes
// such a meeting space away.
func consoleSetup(s *Server, c *call) error {
	if err := s.ownOrigin(c.r); err != nil {
		return err
	}
	var space, name, timezone, way string
	var options json.RawMessage
	err := c.decode(strict.Optional("space", &space), strict.Optional("name", &name), strict.Optional("timezone", &timezone),
		strict.Optional("way", &way), strict.Optional("options", &options))
	if err != nil {
		return err
	}
	var panel []byte
	switch c.params[0] {
	case "space":
		err = s.console.AddSpace(c.r.Context(), name, timezone, c.who.Name)
	case "device":
		var said map[string]string
		if said, err = answers(options); err == nil {
			panel, err = s.console.AddDevice(c.r.Context(), space, way, said, c.who.Name)
		}
	case "remove":
		err = s.agent.Site.RemoveSpace(c.r.Context(), space, c.who.Name)
	default:
		err = problem.New(problem.NotFound, "action", "is not known: want space, device or remove")
	}
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, struct {
		Panel string `json:"panel,omitempty"` // the dialog about what was added
	}{string(panel)})
}

// answers are what a form says, by the keys of its questions: what is within a sub-device
// has its name and a dot before.
func answers(options json.RawMessage) (map[string]string, error) {
	said := map[string]string{}
	if options == nil {
		return said, nil
	}
	var fields map[string]any
	if json.Unmarshal(options, &fields) != nil {
		return nil, invalid("options", "is not an object")
	}
	for key, value := range fields {
		within, nested := value.(map[string]any)
		if !nested {
			within = map[string]any{"": value}
		}
		for sub, v := range within {
			text, ok := v.(string)
			if !ok {
				return nil, invalid("options", "is not of texts")
			}
			said[strings.TrimSuffix(key+"."+sub, ".")] = text
		}
	}
	return said, nil
}
