package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/message"
	"roomgate/agent/message/book"
	"roomgate/agent/schedule"
)

func sentMessage(t *testing.T, got answer) book.Info {
	t.Helper()
	var m book.Info
	if err := json.Unmarshal([]byte(got.body), &m); err != nil || got.StatusCode != 202 || m.ID == "" {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	return m
}

// A message is taken, shown and repeated; what is wrong is named and sends
// nothing.
func TestMessagesOverHTTP(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const good = `{"to":{"email":"ada@example.com"},"title":"Guests","body":"They wait.","priority":"high","ttl":"30m"}`
		for body, field := range map[string]string{
			`{}`: "to",
			strings.Replace(good, `"email":"ada@example.com"`, ``, 1):                           "to",
			strings.Replace(good, `"ada@example.com"`, `"ada@example.com","user_id":"ada"`, 1):  "to",
			strings.Replace(good, `"email"`, `"phone"`, 1):                                      "to.phone",
			strings.Replace(good, `"email":"ada@example.com"`, `"user_id":"nobody"`, 1):         "to.user_id",
			strings.Replace(good, `"email":"ada@example.com"`, `"booking_id":"nobody"`, 1):      "to.booking_id",
			strings.Replace(good, `"email":"ada@example.com"`, `"topic":"a/b"`, 1):              "to.topic",
			strings.Replace(good, `They wait.`, ``, 1):                                          "body",
			strings.Replace(good, `high`, `max`, 1):                                             "priority",
			strings.Replace(good, `"30m"`, `"soon"`, 1):                                         "ttl",
			strings.Replace(good, `"30m"`, `-1`, 1):                                             "ttl",
			strings.Replace(good, `"30m"`, `99999999`, 1):                                       "ttl",
			strings.Replace(good, `"ttl":"30m"`, `"expires_at":"1999-01-01T00:00:00Z"`, 1):      "expires_at",
			strings.Replace(good, `"ttl"`, `"meeting_space_id":"`+nowhere+`","ttl"`, 1):         "meeting_space_id",
			strings.Replace(good, `"ttl":"30m"`, `"ttl":9,"expires_at":"2000-01-02T00:00Z"`, 1): "expires_at",
		} {
			status, code := 422, "invalid"
			if strings.Contains(body, `"nobody"`) || strings.Contains(body, nowhere) {
				status, code = 404, "not_found"
			}
			checkProblem(t, body, b.ask("POST", "/messages", body), status, code, field)
		}
		if n := len(b.push.Taken()); n != 0 {
			t.Fatalf("%d were sent", n)
		}
		first := sentMessage(t, b.ask("POST", "/messages", good, "Idempotency-Key: a"))
		again := sentMessage(t, b.ask("POST", "/v1.0/messages", good, "Idempotency-Key: a"))
		if again.ID != first.ID || first.ExpiresAt.Sub(first.CreatedAt) != 30*time.Minute {
			t.Errorf("%+v, again %+v", first, again)
		}
		checkProblem(t, "another with its key", b.ask("POST", "/messages", strings.Replace(good, "30m", "31m", 1), "Idempotency-Key: a"), 422, "invalid", "Idempotency-Key")
		time.Sleep(time.Second)
		var m book.Info
		got := b.ask("GET", "/messages/"+first.ID, "")
		if err := json.Unmarshal([]byte(got.body), &m); err != nil || m.Channels.Push.State != message.Sent || m.Channels.Cloud.State != message.Unused {
			t.Errorf("%d %s", got.StatusCode, got.body)
		}
		if list := b.ask("GET", "/messages?limit=1", ""); !strings.Contains(list.body, first.ID) || strings.Contains(list.body, "next_cursor") {
			t.Errorf("%s", list.body)
		}
		if taken := b.push.Taken(); len(taken) != 1 || taken[0].Topic != "rooms-ada" || taken[0].Priority != 4 {
			t.Errorf("%+v", taken)
		}
		checkProblem(t, "none", b.ask("GET", "/messages/none", ""), 404, "not_found", "message_id")
	}, tenants)
}

// Whoever is of an organization sends to its people and about its spaces, and
// sees only what is its own.
func TestMessagesOfOrganizations(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, reads := b.orgKey(t, auroraOrg, "messages:read")
		_, writes := b.orgKey(t, auroraOrg, "messages:write")
		_, other := b.orgKey(t, borealisOrg, "messages:read", "messages:write")
		post := func(to, more, key string) answer {
			return b.net.do(t, "POST", "/messages", `{"to":{`+to+`},"title":"a","body":"b"`+more+`}`, key)
		}
		start := time.Now().Add(time.Hour).Truncate(time.Hour)
		theirs, _, err := b.agent.Bookings.Create(t.Context(), booking.Booking{SpaceID: borealis, Start: start, End: start.Add(time.Hour),
			Organizer: booking.Person{Email: "bob@example.com"}}, schedule.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		m := sentMessage(t, post(`"user_id":"mel"`, `,"meeting_space_id":"`+aurora+`"`, writes))
		for to, field := range map[string]string{`"user_id":"bob"`: "to.user_id", `"user_id":"ada"`: "to.user_id", `"booking_id":"` + theirs.ID + `"`: "to.booking_id"} {
			checkProblem(t, to, post(to, "", writes), 404, "not_found", field)
		}
		checkProblem(t, "a topic of others", post(`"topic":"rooms-bob"`, "", writes), 403, "forbidden", "to.topic")
		checkProblem(t, "a space of others", post(`"user_id":"mel"`, `,"meeting_space_id":"`+borealis+`"`, writes), 404, "not_found", "meeting_space_id")
		checkProblem(t, "may not write", post(`"user_id":"mel"`, "", reads), 403, "forbidden", "")
		checkProblem(t, "may not read", b.net.do(t, "GET", "/messages", "", writes), 403, "forbidden", "")
		checkProblem(t, "not theirs", b.net.do(t, "GET", "/messages/"+m.ID, "", other), 404, "not_found", "message_id")
		if got := b.net.do(t, "GET", "/messages", "", other); got.body != `{"messages":[]}` {
			t.Errorf("others see %s", got.body)
		}
		if got := b.net.do(t, "GET", "/messages/"+m.ID, "", reads); got.StatusCode != 200 || !strings.Contains(got.body, m.ID) {
			t.Errorf("%d %s", got.StatusCode, got.body)
		}
		sentMessage(t, post(`"booking_id":"`+theirs.ID+`"`, "", other))
		time.Sleep(time.Second)
		if taken := b.push.Taken(); len(taken) != 2 {
			t.Errorf("%+v", taken)
		}
	}, tenants)
}
