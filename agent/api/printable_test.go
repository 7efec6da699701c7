package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// textless are the operations, besides those that read, that take no text in a body.
var textless = []string{"POST /meetingspace/{meeting_space_id}/screenshot", "POST /meetingspace/{meeting_space_id}/calendar/feed"}

// TestNoRouteTakesHiddenCharacters sends each operation that reads a body a text with a
// control character and with a mark of direction, at the top, deeper, and as the name of a
// member. It is refused with its field, whatever else is wrong.
func TestNoRouteTakesHiddenCharacters(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		made := b.book(meeting("10:00", "11:00", ""))
		edge := b.register(borealis, "")
		fill := strings.NewReplacer("{meeting_space_id}", aurora, "{organization_id}", auroraOrg, "{booking_id}", made.ID, "{user_id}", "mel", "{edge_id}", edge,
			"{device_id}", "aurora-light", "{action}", "book", "{device_type}", "light", "{sub_device}", "x", "{code_id}", "x", "{key_id}", "x", "{webhook_id}", "x", "{rule_id}", "x")
		tried := 0
		for _, r := range routes() {
			if r.method == http.MethodGet || r.method == http.MethodDelete || slices.Contains(textless, r.literal()) {
				continue
			}
			path := fill.Replace(r.path)
			if strings.Contains(path, "/x") { // is not there, which is said first
				continue
			}
			tried++
			for body, field := range map[string]string{`{"name":"a\u202eb"}`: "name", `{"a":{"b":["c","d\u009b2J"]}}`: "a.b[1]", "{\"name\":\"a\u2066b\"}": "name",
				`{"x":[{"y\u001b":1}]}`: "x[0]", `{"name":"bell\u0007"}`: "name"} {
				got := b.ask(r.method, path, body)
				if got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, "control characters") || !strings.Contains(got.body, field) {
					t.Errorf("%s with %q: %d %s", r.name(), body, got.StatusCode, got.body)
				}
			}
		}
		if tried < 60 {
			t.Errorf("only %d operations are tried", tried)
		}
	}, tenants)
}
