package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"roomgate/agent/strict"
)

// platformFields are those of the platform's table, in its order.
var platformFields = strings.Fields(`id name street city state zipcode country location indoor_location floor room status
	additional_address_info type capacity created_at updated_at customer_id created_by external_cal_id timezone logo
	booking_app_url enabled third_party_registered external_name slot_size allow_current_time_booking 24_hr_available
	next_available_time available_until screen_saver_url is_screen_saver`)

// TestMeetingSpaceRecords: the answer is the platform's, field by field.
func TestMeetingSpaceRecords(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.book(meeting("10:00", "11:00", ""))
		b.book(`{"meeting_space_id":"` + borealis + `","source":"walk_up","end_time":"` + at("00:30") + `"}`)
		got := b.ask("GET", "/meetingspace/get_meeting_space")
		golden(t, "meeting-spaces", steady(got.body))
		if old := b.ask("GET", "/v1.0/meetingspace/get_meeting_space"); old.body != got.body {
			t.Errorf("V1.0: %s", old.body)
		}
		var all []json.RawMessage
		if err := json.Unmarshal([]byte(got.body), &all); err != nil || len(all) != 2 {
			t.Fatalf("%v in %s", err, got.body)
		}
		for _, record := range all {
			var names []string
			for key := range strict.Each(record) {
				name, _ := strict.Unquote(key)
				names = append(names, name)
			}
			if !slices.Equal(names, platformFields) {
				t.Errorf("fields are %v, want %v", names, platformFields)
			}
		}
	})
}

// TestBookingAndStateMessages holds the shapes of what clients read all day.
func TestBookingAndStateMessages(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const who = `,"title":"Weekly","organizer":{"name":"Ada Lovelace","email":"ada@mail.example"},"external_id":"x-1","organization_id":"o-1"`
		golden(t, "booking", steady(b.ask("POST", "/bookings", meeting("10:00", "11:00", who+`,"id":"b-1"`)).body))
		golden(t, "booking-conflict", b.ask("POST", "/bookings", meeting("10:30", "11:00", "")).body)
		golden(t, "bookings", steady(b.ask("GET", "/bookings?limit=1").body))
		golden(t, "booking-bulk", steady(b.bulkBody(operation("update", `{"id":"b-1","private":true}`), operation("cancel", `{"id":"b-2"}`))))
		b.book(`{"meeting_space_id":"` + borealis + `","source":"walk_up","end_time":"` + at("00:30") + `"` + who + `,"id":"b-3"}`)
		golden(t, "state", steady(b.ask("GET", "/meetingspace/"+aurora+"/state").body))
		golden(t, "state-occupied", steady(b.ask("GET", "/meetingspace/"+borealis+"/state").body))
		golden(t, "state-hold", steady(b.ask("POST", "/meetingspace/"+aurora+"/state", `{"status":"disabled","note":"paint"}`).body))
		golden(t, "availability", b.ask("POST", "/meetingspace/"+aurora+"/availability", `{"hours":{"monday":"08:00-18:00","tuesday":"closed"}}`).body)
	})
}

func (b *building) bulkBody(operations ...string) string {
	return b.ask("POST", "/bookings/bulk", `{"operations":[`+strings.Join(operations, ",")+`]}`).body
}

// steady takes out of an answer what depends on when the building was ready.
func steady(body string) string { return firstMinute.ReplaceAllString(body, `"`+at("00:00")+`"`) }

var firstMinute = regexp.MustCompile(`"2000-01-01T00:00:[0-9.]+Z"`)

func TestAvailability(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path = "/meetingspace/" + borealis + "/availability"
		set := func(body, want string) {
			t.Helper()
			if got := b.ask("POST", path, body); got.StatusCode != 200 || got.body != `{"response":`+want+`}` {
				t.Errorf("%s: %d %s, want %s", body, got.StatusCode, got.body, want)
			}
		}
		booked := func(from, to string) int {
			return b.ask("POST", "/bookings", strings.Replace(meeting(from, to, ""), aurora, borealis, 1)).StatusCode
		}
		set(`{}`, `{"enabled":true,"slot_size":15,"allow_current_time_booking":true,"24_hr_available":true,"hours":{}}`)
		set(`{"slot_size":30,"hours":{"saturday":"09:00-17:00","monday":"closed"}}`,
			`{"enabled":true,"slot_size":30,"allow_current_time_booking":true,"24_hr_available":false,"hours":{"monday":"closed","saturday":"09:00-17:00"}}`)
		for times, want := range map[string]int{"08:30-09:30": 422, "09:15-10:00": 422, "16:30-17:30": 422, "09:00-10:00": 201} {
			from, to, _ := strings.Cut(times, "-")
			if got := booked(from, to); got != want {
				t.Errorf("%s: %d, want %d", times, got, want)
			}
		}
		if got := b.ask("GET", "/meetingspace/get_meeting_space").body; !strings.Contains(got, `"slot_size":30`) || !strings.Contains(got, `"24_hr_available":false`) {
			t.Errorf("the record: %s", got)
		}
		set(`{"24_hr_available":true,"enabled":false}`,
			`{"enabled":false,"slot_size":30,"allow_current_time_booking":true,"24_hr_available":true,"hours":{}}`)
		if got := b.sign("/meetingspace/" + borealis + "/state"); got.Status != "disabled" || booked("20:00", "21:00") != 409 {
			t.Errorf("disabled: %+v", got)
		}
		for body, field := range map[string]string{
			`{"enabled":"yes"}`:         "enabled",
			`{"slot_size":4}`:           "slot_size",
			`{"slot_size":4294967311}`:  "slot_size",
			`{"slot_size":"15"}`:        "slot_size",
			`{"24_hr_available":1}`:     "24_hr_available",
			`{"24_hr_available":false}`: "hours",
			`{"24_hr_available":true,"hours":{"monday":"08:00-18:00"}}`: "hours",
			`{"hours":"08:00-18:00"}`:                                   "hours",
			`{"hours":{"Monday":"08:00-18:00"}}`:                        "hours.Monday",
			`{"hours":{"monday":"18:00-08:00"}}`:                        "hours.monday",
			`{"hours":{"monday":"8-18"}}`:                               "hours.monday",
			`{"timezone":"UTC"}`:                                        "timezone",
		} {
			checkProblem(t, body, b.ask("POST", path, body), 422, "invalid", field)
		}
		checkProblem(t, "unknown", b.ask("POST", "/meetingspace/"+nowhere+"/availability", `{}`), 404, "not_found", "meeting_space_id")
	})
}

// TestOneOfAThousandWins: everybody asks for the same slot in the same
// instant, while displays go on reading.
func TestOneOfAThousandWins(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		var won, lost, other atomic.Int64
		var all sync.WaitGroup
		start := make(chan struct{})
		h := b.server.Handler()
		for i := range 1000 {
			body := meeting("10:00", "11:00", "")
			if i%10 == 0 {
				body = meeting("09:45", "10:15", "")
			}
			request := newRequest(t, "POST", "/bookings", "X-API-Key: "+systemKey, body)
			all.Go(func() {
				<-start
				w := httptest.NewRecorder()
				h.ServeHTTP(w, request)
				switch w.Code {
				case http.StatusCreated:
					won.Add(1)
				case http.StatusConflict:
					lost.Add(1)
				default:
					other.Add(1)
				}
			})
		}
		close(start)
		for range 100 {
			if got := b.sign("/meetingspace/" + aurora + "/state"); got.Status == "" {
				t.Error("a display waits")
			}
		}
		all.Wait()
		if won.Load() != 1 || lost.Load() != 999 || other.Load() != 0 {
			t.Errorf("%d won, %d lost, %d otherwise", won.Load(), lost.Load(), other.Load())
		}
		if ids, _ := b.ids("?limit=200"); len(ids) != 1 {
			t.Errorf("booked are %v", ids)
		}
	})
}
