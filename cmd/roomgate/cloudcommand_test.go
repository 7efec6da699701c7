package main

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/device"
	"roomgate/cloud"
)

// TestSpaceIsFoundAtOnce: a command that names its space waits only until the broker
// has told of that space, and no name is refused before it has told all.
func TestSpaceIsFoundAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		told := func(gateways ...string) *cloudLink {
			l := &cloudLink{heard: make(chan cloud.Message, len(gateways))}
			for _, g := range gateways {
				e := cloud.Envelope{ID: "1", Source: "roomgate/" + g, Type: cloud.TypeOf(cloud.LevelState), Time: time.Now(),
					Data: json.RawMessage(`{"meeting_space_id":"aurora-of-` + g + `","name":"Aurora"}`)}
				payload, err := e.Encode()
				if err != nil {
					t.Fatal(err)
				}
				l.heard <- cloud.Message{Topic: cloud.Topics{Gateway: g}.Up(cloud.LevelState, "aurora-of-"+g), Payload: payload}
			}
			return l
		}
		began := time.Now()
		if id, err := told("g1", "g2").space(cmd, "g2", "aurora"); id != "aurora-of-g2" || err != nil {
			t.Errorf("found %q, %v", id, err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		if id, err := told("g1").space(cmd, "g1", "Borealis"); id != "" || codeOf(err) != exitRefused {
			t.Errorf("found %q, %v", id, err)
		}
		if id, err := told().space(cmd, "g1", "Aurora"); id != "" || codeOf(err) != exitUnreachable {
			t.Errorf("found %q, %v", id, err)
		}
		if took := time.Since(began); took != 2*cloudLook {
			t.Errorf("what is unknown was looked for %v", took)
		}
	})
}

// codeOf is the exit code of an error; 0: it has none.
func codeOf(err error) int {
	var coded *fault
	if errors.As(err, &coded) {
		return coded.code
	}
	return 0
}

// TestCommandsOfTheCloudAreShort: what does not say for how long lives no longer than what may open a door by way of a rule.
func TestCommandsOfTheCloudAreShort(t *testing.T) {
	life, err := newCloudCommand().Flags().GetDuration("ttl")
	if err != nil || life <= 0 || life > device.LongestDoorLife {
		t.Errorf("a command lives %v, %v: want at most %v", life, err, device.LongestDoorLife)
	}
}
