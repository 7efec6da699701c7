package schedule

import (
	"strings"
	"testing"

	"roomgate/agent/problem"
	"roomgate/cloud"
)

// FuzzReadSchedule: what no schedule can be is refused as the sender's fault, with a field
// where there is one.
func FuzzReadSchedule(f *testing.F) {
	for _, data := range []string{
		`{"meeting_space_id":"aurora","revision":1,"kind":"snapshot","bookings":[{"id":"b1","title":"Tea","start_time":"2026-11-23T09:00:00Z","end_time":"2026-11-23T10:00:00Z"}]}`,
		`{"bookings":[{"id":1}]}`, `{"bookings":[{"idd":"x"}]}`, `{"bookings":[[]]}`, `{"revision":-1}`, `[]`, ``,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := readSchedule(cloud.Envelope{ID: "s1", Data: data})
		if err == nil {
			return
		}
		if e := problem.As(err); e == nil || e.Code != problem.Invalid || strings.Contains(e.Message, "see the gateway's log") {
			t.Errorf("%q: %v", data, err)
		}
	})
}
