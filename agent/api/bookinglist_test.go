package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"roomgate/agent/booking"
)

// ids are those of the bookings in an answer, and the cursor that is in it.
func (b *building) ids(query string) (ids []string, next string) {
	b.t.Helper()
	got := b.ask("GET", "/bookings"+query)
	var body struct {
		Bookings []booked `json:"bookings"`
		Next     string   `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.StatusCode != 200 {
		b.t.Fatalf("%s: %d %s", query, got.StatusCode, got.body)
	}
	for _, is := range body.Bookings {
		ids = append(ids, is.ID)
	}
	return ids, body.Next
}

func TestListBookings(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for i := range 5 {
			request := meeting(fmt.Sprintf("%02d:00", 10+i), fmt.Sprintf("%02d:00", 11+i), fmt.Sprintf(`,"id":"a%d"`, i))
			b.book(request)
			b.book(strings.NewReplacer(aurora, borealis, `"a`, `"b`).Replace(request))
		}
		b.done(200, "DELETE", "/bookings/a1")
		for query, want := range map[string]string{
			"":                            "a0 b0 a1 b1 a2 b2 a3 b3 a4 b4",
			"?meeting_space_id=" + aurora: "a0 a1 a2 a3 a4",
			"?state=cancelled":            "a1",
			"?state=checked_in":           "",
			"?from=" + at("12:00") + "&to=" + at("13:00"):             "a2 b2",
			"?from=" + at("12:59"):                                    "a2 b2 a3 b3 a4 b4",
			"?to=" + at("10:01"):                                      "a0 b0",
			"?from=2000-01-01T14:00:00+01:00&limit=2":                 "a3 b3",
			"?from=2000-01-01T14:00:00%2B01:00&limit=1":               "a3",
			"?meeting_space_id=" + borealis + "&state=booked&limit=2": "b0 b1",
		} {
			if got, _ := b.ids(query); strings.Join(got, " ") != want {
				t.Errorf("%s: %v, want %s", query, got, want)
			}
		}
		for _, limit := range []int{1, 3, 10} {
			var all []string
			for next := " "; next != ""; {
				query := fmt.Sprintf("?limit=%d&state=booked", limit)
				if next != " " {
					query += "&cursor=" + url.QueryEscape(next)
				}
				var page []string
				page, next = b.ids(query)
				all = append(all, page...)
			}
			if strings.Join(all, " ") != "a0 b0 b1 a2 b2 a3 b3 a4 b4" {
				t.Errorf("%d at a time: %v", limit, all)
			}
		}
	})
}

func TestListBookingsRefusals(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for query, field := range map[string]string{
			"?from=yesterday":           "from",
			"?from=2000-01-01T10:00:00": "from",
			"?to=2000-01-01":            "to",
			"?from=2000-01-02T00:00:00Z&to=2000-01-02T00:00:00Z": "to",
			"?state=free":           "state",
			"?limit=0":              "limit",
			"?limit=201":            "limit",
			"?cursor=x":             "cursor",
			"?cursor=%21.a":         "cursor",
			"?space=" + aurora:      "space",
			"?state=booked&state=a": "state",
		} {
			checkProblem(t, query, b.ask("GET", "/bookings"+query), 422, "invalid", field)
		}
		checkProblem(t, "unknown space", b.ask("GET", "/bookings?meeting_space_id="+nowhere), 404, "not_found", "meeting_space_id")
	})
}

// TestPagesAreTheWhole: whatever is booked, the pages one after the other are
// the whole list, sorted, with nothing twice.
func TestPagesAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		starts := rapid.SliceOfN(rapid.Int64Range(-5, 5), 0, 40).Draw(t, "starts")
		all := make([]booking.Booking, len(starts))
		for i, s := range starts {
			all[i] = booking.Booking{ID: fmt.Sprintf("id.%d", i), Start: place{}.start.AddDate(2025, 0, int(s))}
		}
		f := bookingFilter{limit: rapid.IntRange(1, 10).Draw(t, "limit")}
		var seen []string
		for {
			page, next := f.page(slices.Clone(all))
			for _, r := range page {
				seen = append(seen, r.ID)
			}
			if next == "" {
				break
			}
			var err error
			if f.after, err = parsePlace(next); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(all, func(a, b booking.Booking) int { return placeOf(a).compare(placeOf(b)) })
		if len(seen) != len(all) {
			t.Fatalf("%d of %d", len(seen), len(all))
		}
		for i := range all {
			if seen[i] != all[i].ID {
				t.Fatalf("place %d is %s, want %s", i, seen[i], all[i].ID)
			}
		}
	})
}

// FuzzPlace: a cursor that is taken is written as it was read.
func FuzzPlace(f *testing.F) {
	f.Add("dv.a.b")
	f.Add(".")
	f.Add("-1y2p0ij32e8e8.x")
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := parsePlace(cursor)
		if err != nil {
			return
		}
		if again, err := parsePlace(p.String()); err != nil || again != p {
			t.Fatalf("%q is %+v, then %+v (%v)", cursor, p, again, err)
		}
	})
}
