package api

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"roomgate/agent/agenttest"
	"roomgate/agent/device"
	"roomgate/cloud"
)

// anExample is a level and its message in cloud/README.md.
var anExample = regexp.MustCompile("(?m)^`((?:up|down)/[^`]*)`[^\n]*:\n\n```json\n([^\n]*)\n```")

// examples are those of cloud/README.md, by level.
func examples(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../cloud/README.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range anExample.FindAllStringSubmatch(string(page), -1) {
		all[m[1]] = m[2]
	}
	return all
}

var exampleTime = regexp.MustCompile(`2026-11-2[0-9]T[0-9:.]+Z`)

// asOfNow moves the times of an example to the time of the test.
func asOfNow(example string) string {
	written := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	return exampleTime.ReplaceAllStringFunc(example, func(text string) string {
		at, _ := time.Parse(time.RFC3339, text)
		return time.Now().UTC().Truncate(24 * time.Hour).Add(at.Sub(written)).Format(time.RFC3339)
	})
}

// Each message has an example. Those below down are carried out by a building, and all are as
// asyncapi.yaml describes them.
func TestExamplesOfThePage(t *testing.T) {
	s, all := parseAsync(t), examples(t)
	levels := map[string]bool{}
	for topic, example := range all {
		name := s.checkMessage(t, "roomgate/v1/demo/"+topic, []byte(example))
		levels[name] = true
	}
	for name := range s.at(s.root, "channels").(map[string]any) {
		if !levels[name] {
			t.Errorf("there is no example of %s", name)
		}
	}
	belowTheCloud(t, func(t *testing.T, _ *agenttest.Building, link *cloud.Link, got func() []cloud.Message) {
		for _, level := range []string{"replay", "command", "schedule", "config", "ack"} {
			example := asOfNow(all["down/"+level])
			if err := link.Publish(t.Context(), cloud.Message{Topic: "roomgate/v1/demo/down/" + level, Payload: []byte(example), QoS: 1}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
		}
		ended, rows := map[string]string{}, map[uint64]int{}
		for _, m := range got() {
			e, err := cloud.Decode(m.Payload)
			if err != nil {
				t.Fatal(err)
			}
			if e.Sequence > 0 && !strings.HasSuffix(m.Topic, "/heartbeat") {
				rows[e.Sequence]++
			}
			var r device.Receipt
			if strings.HasSuffix(m.Topic, "/receipt") && json.Unmarshal(e.Data, &r) == nil {
				ended[r.CommandID] = string(r.State) + " " + r.Reason
			}
		}
		for _, id := range []string{"command light-1", "schedule schedule-1", "config config-1"} {
			level, id, _ := strings.Cut(id, " ")
			if ended[id] != "done " {
				t.Errorf("the %s ends as %q: want done", level, ended[id])
			}
		}
		if rows[2] < 2 || rows[4] < 2 || rows[5] > 1 {
			t.Errorf("rows came so many times: %v: want 2 to 4 again", rows)
		}
	})
	var claim struct{ Sealed string }
	e, err := cloud.Decode([]byte(all["down/claim"]))
	if err != nil || json.Unmarshal(e.Data, &claim) != nil {
		t.Fatal(err)
	}
	sealed, err := base64.StdEncoding.DecodeString(claim.Sealed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cloud.Unseal("0123-4567-89AB-CDEF", "roomgate/v1/demo/down/claim", sealed)
	if err != nil || !strings.Contains(string(text), `"organization":"Landlord"`) {
		t.Errorf("the claim is %s, %v", text, err)
	}
}
