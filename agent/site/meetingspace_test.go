package site

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
)

// The record has exactly the platform's fields.
func TestMeetingSpaceRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{yaml: planned})
		text, err := json.Marshal(r.MeetingSpaces()[0])
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(`id name street city state zipcode country location indoor_location floor room status
			additional_address_info type capacity created_at updated_at customer_id created_by external_cal_id timezone logo
			booking_app_url enabled third_party_registered external_name slot_size allow_current_time_booking 24_hr_available
			next_available_time available_until screen_saver_url is_screen_saver`)
		for _, name := range want {
			if _, ok := fields[name]; !ok {
				t.Errorf("%s is missing", name)
			}
			delete(fields, name)
		}
		if len(fields) > 0 {
			t.Errorf("too many: %v", fields)
		}
		if !slices.Contains(strings.Split(string(text), ","), `"created_at":"2000-01-01T00:00:00.000Z"`) {
			t.Errorf("%s", text)
		}
	})
}

// The record says the same as the state.
func TestRecordSaysWhatTheStateSays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		text := func(at *string) string {
			if at == nil {
				return ""
			}
			return *at
		}
		check := func(what string) {
			t.Helper()
			s, err := r.Site.o.Bookings.State(room)
			if err != nil {
				t.Fatal(err)
			}
			m := r.MeetingSpaces()[0]
			if m.ID != room || m.Status != s.Status || m.AvailableUntil != text(s.AvailableUntil) || m.NextAvailableTime != text(s.NextAvailable) {
				t.Errorf("%s: the record says %s until %q, next %q, the state %+v", what, m.Status, m.AvailableUntil, m.NextAvailableTime, s)
			}
		}
		r.until(on(8, 0))
		check("nothing booked")
		r.book("a", on(9, 0), on(10, 0))
		r.book("b", on(10, 0), on(10, 30))
		for _, minute := range []int{0, 50, 60, 120, 130} {
			r.until(on(8, minute))
			check("at minute " + strconv.Itoa(minute))
		}
		for _, h := range []booking.Hold{{Status: booking.Disabled, Until: on(11, 0)}, {Status: booking.Reserved}, {Status: booking.Available},
			{Status: booking.Disabled, From: on(12, 0)}} {
			if _, err := r.Site.o.Bookings.Hold(t.Context(), room, h); err != nil {
				t.Fatal(err)
			}
			check("held " + string(h.Status))
		}
		ten, no, weekend := 10, false, config.Hours{Saturday: "08:00-18:00"}
		if _, err := r.Site.o.Bookings.SetAvailability(t.Context(), room, schedule.Availability{SlotSize: &ten, AllowCurrentTimeBooking: &no, Hours: &weekend}); err != nil {
			t.Fatal(err)
		}
		check("with hours")
		if m := r.MeetingSpaces()[0]; m.SlotSize != 10 || m.AroundTheClock || m.AllowCurrentTimeBooking || m.UpdatedAt != eventlog.Stamp(r.Site.o.Clock.Now()) {
			t.Errorf("the record says %+v", m)
		}
		if _, err := r.Site.o.Bookings.SetAvailability(t.Context(), room, schedule.Availability{Enabled: &no}); err != nil {
			t.Fatal(err)
		}
		check("out of use")
	})
}
