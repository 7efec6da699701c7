package device

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/drivers"
)

// BenchmarkBytesPerChange is what changes of status cost the card.
func BenchmarkBytesPerChange(b *testing.B) {
	for _, group := range []int{0, 1, 100} {
		b.Run(fmt.Sprint("changes=", group), func(b *testing.B) {
			r := openRig(b, rigOptions{yaml: strings.Replace(building, "events: 500", "events: 100000", 1)})
			defer r.stop()
			v := newView(r.byID("light-1"), nil)
			v.observe([]drivers.Status{{Value: drivers.Off, ObservedAt: time.Now()}})
			before := r.db.Stats()
			values := []string{drivers.On, drivers.Off}
			n := 0
			for b.Loop() {
				if group == 0 { // the same again: nothing may be written
					r.events.Add(v.observe([]drivers.Status{{Value: drivers.Off, ObservedAt: time.Now()}}))
					n++
				}
				for range group {
					v.parts[0].pace = eventlog.Pace{} // that of as many devices
					r.events.Add(v.observe([]drivers.Status{{Value: values[n%2], ObservedAt: time.Now()}}))
					n++
				}
				if err := r.events.Flush(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			written := r.db.Stats().BytesWritten - before.BytesWritten
			b.ReportMetric(float64(written)/float64(n), "B/change")
		})
	}
}
