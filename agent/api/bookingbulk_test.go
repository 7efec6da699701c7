package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// bulkItem is one result as a client reads it.
type bulkItem struct {
	Index   int          `json:"index"`
	Status  int          `json:"status"`
	Booking *booked      `json:"booking"`
	Problem *problemBody `json:"problem"`
}

func (b *building) bulk(operations []string, headers ...string) []bulkItem {
	b.t.Helper()
	got := b.ask("POST", "/bookings/bulk", append(headers, `{"operations":[`+strings.Join(operations, ",")+`]}`)...)
	var body struct {
		Results []bulkItem `json:"results"`
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.StatusCode != 200 || len(body.Results) != len(operations) {
		b.t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	return body.Results
}

// operation makes an item of a booking request.
func operation(name, request string) string {
	return `{"operation":"` + name + `",` + strings.TrimPrefix(request, "{")
}

// TestBulk: each item stands alone, in its order, and one that is refused
// leaves the rest as it is.
func TestBulk(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		results := b.bulk([]string{
			operation("create", meeting("00:00", "00:30", `,"id":"a"`)),
			operation("create", meeting("00:15", "00:45", `,"id":"b"`)),
			operation("create", meeting("09:00", "10:00", `,"id":"c","room":"x"`)),
			operation("update", `{"id":"a","title":"new","revision":1}`),
			operation("update", `{"id":"a","title":"newer","revision":1}`),
			operation("update", `{"id":"none","title":"new"}`),
			operation("update", `{"title":"new"}`),
			operation("check_in", `{"id":"a"}`),
			operation("extend", `{"id":"a","minutes":15}`),
			operation("end", `{"id":"a","minutes":15}`),
			operation("end", `{"id":"a"}`),
			operation("create", meeting("09:00", "10:00", `,"id":"c"`)),
			operation("create", `{"id":"c","title":"given"}`),
			operation("cancel", `{"id":"c"}`),
			operation("explode", `{"id":"c"}`),
			`{"id":"c"}`,
			`{"operation":1}`,
			`"cancel"`,
			operation("cancel", `{"id":"c","id":"a"}`),
			operation("cancel", `{"id":"c","revision":0}`),
			operation("create", meeting("11:00", "12:00", `,"id":"d"`)),
		})
		for i, want := range []struct {
			status int
			code   string
			field  string
		}{{201, "", ""}, {409, "conflict", "start_time"}, {422, "invalid", "room"}, {200, "", ""}, {412, "revision_mismatch", "revision"},
			{404, "not_found", "id"}, {422, "invalid", "id"}, {200, "", ""}, {200, "", ""}, {422, "invalid", "minutes"}, {200, "", ""},
			{201, "", ""}, {200, "", ""}, {200, "", ""}, {422, "invalid", "operation"}, {422, "invalid", "operation"}, {422, "invalid", "operation"},
			{422, "invalid", "operations"}, {422, "invalid", "id"}, {422, "invalid", "revision"}, {201, "", ""}} {
			got := results[i]
			if got.Index != i || got.Status != want.status || (got.Booking == nil) != (want.code != "") || (got.Problem == nil) != (want.code == "") {
				t.Errorf("item %d: %+v, want %d", i, got, want.status)
			}
			if p := got.Problem; p != nil && (string(p.Code) != want.code || p.Field != want.field || p.Status != want.status || p.Detail == "") {
				t.Errorf("item %d: %+v, want %s %s", i, p, want.code, want.field)
			}
		}
		if results[1].Problem.Conflict == nil {
			t.Error("a taken time is not told")
		}
		if end := results[10].Booking; end.State != "ended" || *end.PlannedEnd != at("00:30") {
			t.Errorf("ended: %+v", end)
		}
	})
}

func TestBulkMayBeRepeated(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		operations := []string{operation("create", meeting("10:00", "11:00", "")), operation("create", meeting("10:00", "11:00", "")), operation("create", meeting("12:00", "13:00", ""))}
		first := b.bulk(operations, "Idempotency-Key: k")
		again := b.bulk(operations, "Idempotency-Key: k")
		for i, want := range []int{200, 409, 200} {
			if again[i].Status != want || want == 200 && again[i].Booking.ID != first[i].Booking.ID {
				t.Errorf("item %d again: %+v, first %+v", i, again[i], first[i])
			}
		}
		if got := b.book(meeting("14:00", "15:00", ""), "Idempotency-Key: k"); got.Start != at("14:00") {
			t.Errorf("the key by itself: %+v", got)
		}
	})
}

func TestBulkRefusals(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		many := strings.TrimSuffix(strings.Repeat(`{"operation":"cancel","id":"x"},`, maxOperations+1), ",")
		for _, c := range []struct {
			name, body string
			status     int
			code       string
			field      string
		}{
			{"none", `{"operations":[]}`, 422, "invalid", "operations"},
			{"too many", `{"operations":[` + many + `]}`, 422, "invalid", "operations"},
			{"missing", `{}`, 422, "invalid", "operations"},
			{"no array", `{"operations":{}}`, 422, "invalid", "operations"},
			{"unknown", `{"bookings":[]}`, 422, "invalid", "bookings"},
			{"not JSON", `{"operations":[}`, 400, "malformed", ""},
			{"too large", `{"operations":["` + strings.Repeat("x", maxBulk) + `"]}`, 413, "payload_too_large", ""},
		} {
			checkProblem(t, c.name, b.ask("POST", "/bookings/bulk", c.body), c.status, c.code, c.field)
		}
		checkProblem(t, "GET", b.ask("GET", "/bookings/bulk"), 405, "method_not_allowed", "")
	})
}

// FuzzOperation: an item that is taken names what it is about, and anything
// else is refused with an *problem.Error.
func FuzzOperation(f *testing.F) {
	for _, seed := range []string{`{"operation":"create","meeting_space_id":"x","start_time":"2026-11-22T10:00:00Z","minutes":30}`,
		`{"operation":"cancel","id":"x","revision":1}`, `{"operation":"extend","id":"x","end_time":"2026-11-22T10:00:00+01:00"}`,
		`{"operation":"update","id":"x","organizer":{"name":"n"}}`, `{"operation":"end","operation":"cancel","id":"x"}`, `"x"`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var operations []json.RawMessage
		body := fmt.Appendf(nil, `{"operations":[%s]}`, data)
		if strict.Object(body, []strict.Member{strict.Required("operations", &operations)}) != nil || len(operations) != 1 {
			return
		}
		operation, fields, err := decodeOperation(operations[0])
		if err == nil {
			err = fields.check()
		}
		var e *problem.Error
		switch {
		case err != nil && (!errors.As(err, &e) || e.Message == ""):
			t.Fatalf("%q: error is %#v", data, err)
		case err == nil && !slices.Contains([]string{opCreate, opUpdate, opCancel, opCheckIn, opExtend, opEnd}, operation):
			t.Fatalf("%q is taken as %q", data, operation)
		case err == nil && operation != opCreate && fields.id == nil:
			t.Fatalf("%q is about nothing", data)
		}
	})
}
