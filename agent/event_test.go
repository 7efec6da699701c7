package agent

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"roomgate/agent/eventlog"
	"roomgate/drivers"
)

// fill puts n events into the log, every third one about the hub's buzzer.
func fill(t *testing.T, r *rig, n int) {
	t.Helper()
	light, hub := r.Site.Find(room).OfType(drivers.TypeLight), r.Site.Find(room).OfType(drivers.TypeO3)
	c := eventlog.Change{}
	for i := range n {
		line := light.Event("statusChanged", "", time.Now(), map[string]any{"n": i})
		if i%3 == 0 {
			line = hub.Event("statusChanged", drivers.SubBuzzer, time.Now(), map[string]any{"n": i})
		}
		c.Rows = append(c.Rows, line)
	}
	if err := r.Events.Write(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func TestEventsPageByPage(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	fill(t, r, 400)
	rapid.Check(t, func(t *rapid.T) {
		f := eventlog.Filter{Limit: rapid.IntRange(20, 500).Draw(t, "limit")}
		want := 400
		if rapid.Bool().Draw(t, "filtered") {
			f.DeviceType, f.SubDevice, want = drivers.TypeO3, drivers.SubBuzzer, 134
		}
		seen := 0
		for pages := 0; pages < 1000; pages++ {
			events, next, err := r.Events.Find(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Cursor <= f.After {
					t.Fatalf("event %d came after the cursor %d", e.Cursor, f.After)
				}
				f.After = e.Cursor
			}
			seen += len(events)
			f.After = next
			if len(events) == 0 {
				break
			}
		}
		if seen != want {
			t.Fatalf("saw %d events in pages of %d, want %d", seen, f.Limit, want)
		}
	})
}

func TestLatestEvents(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	if events, next, err := r.Events.Latest(eventlog.Filter{}); err != nil || len(events) != 0 || next != 0 {
		t.Errorf("an empty log: %v, %d, %v", events, next, err)
	}
	fill(t, r, 400)
	events, next, err := r.Events.Latest(eventlog.Filter{Limit: 7, SubDevice: "buzzer"})
	if err != nil || len(events) != 7 || next != 400 {
		t.Fatalf("%d events, next %d, %v, want 7 up to 400", len(events), next, err)
	}
	for i, e := range events {
		if want := uint64(400 - 3*(6-i)); e.Cursor != want {
			t.Errorf("event %d is %d, want %d", i, e.Cursor, want)
		}
	}
}

func TestEventFilterByTimeTypeAndSpace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		start := time.Now()
		for i := range 10 {
			d := r.Site.Find(room).Devices[0]
			if i%2 == 1 {
				d = r.Site.Find(otherRoom).Devices[0]
			}
			if err := r.Events.Write(t.Context(), eventlog.Change{Rows: []eventlog.Row{d.Event(fmt.Sprint("type", i%5), "", time.Now(), nil)}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		for name, c := range map[string]struct {
			f    eventlog.Filter
			want int
		}{
			"all":   {eventlog.Filter{}, 10},
			"space": {eventlog.Filter{SpaceID: otherRoom}, 5},
			"type":  {eventlog.Filter{Type: "type3"}, 2},
			"since": {eventlog.Filter{Since: start.Add(7 * time.Second)}, 3},
			"until": {eventlog.Filter{Until: start.Add(7 * time.Second)}, 7},
			"none":  {eventlog.Filter{DeviceType: drivers.TypeLock}, 0},
		} {
			events, next, err := r.Events.Find(c.f)
			if err != nil || len(events) != c.want || next != 10 {
				t.Errorf("%s: %d events, next %d, %v, want %d and 10", name, len(events), next, err, c.want)
			}
		}
	})
}

func TestLogIsBoundedAndTheGapIsVisible(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	fill(t, r, 700) // the budget is 500
	events, next, err := r.Events.Find(eventlog.Filter{Limit: 1000})
	if err != nil || len(events) != 500 || events[0].Cursor != 201 || next != 700 {
		t.Errorf("%d events from %d, next %d, %v, want 500 from 201 to 700", len(events), events[0].Cursor, next, err)
	}
	h := r.Health.Report()
	if h.OutboxDepth != 500 || h.LogOldest != 201 {
		t.Errorf("health says depth %d, oldest %d, want 500 and 201", h.OutboxDepth, h.LogOldest)
	}
}

func TestRecorderWritesOncePerIntervalAndInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(2 * time.Second)
		d := r.Site.Find(room).Devices[0]
		commits, from := r.db.Stats().Commits, r.mustLast()
		for i := range 100 { // ten seconds of a busy building
			r.Events.Add(eventlog.Change{Rows: []eventlog.Row{d.Event("busy", "", time.Now(), map[string]any{"n": i})}})
			time.Sleep(100 * time.Millisecond)
		}
		r.wait(2 * time.Second)
		if n := r.db.Stats().Commits - commits; n < 10 || n > 12 {
			t.Errorf("ten busy seconds cost %d commits, want about one per second", n)
		}
		events, _, err := r.Events.Find(eventlog.Filter{After: from, Limit: 1000})
		if err != nil || len(events) != 100 {
			t.Fatalf("%d events, %v, want 100", len(events), err)
		}
		for i, e := range events {
			var got struct{ Details struct{ N int } }
			if err := json.Unmarshal(e.Record, &got); err != nil || got.Details.N != i {
				t.Errorf("event %d is number %d, %v", i, got.Details.N, err)
			}
		}
	})
}

func (r *rig) mustLast() uint64 {
	r.t.Helper()
	seq, err := r.Events.Last()
	if err != nil {
		r.t.Fatal(err)
	}
	return seq
}

func TestFollowerMissesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		d := r.Site.Find(room).Devices[0]
		seen, cursor := 0, uint64(0)
		followed := make(chan struct{})
		go func() {
			defer close(followed)
			for seen < 100 {
				grown := r.Events.Changed()
				events, next, err := r.Events.Find(eventlog.Filter{Type: "tick", After: cursor, Limit: 3})
				if err != nil {
					t.Error(err)
					return
				}
				seen, cursor = seen+len(events), next
				if len(events) == 0 {
					<-grown
				}
			}
		}()
		for range 100 {
			r.Events.Add(eventlog.Change{Rows: []eventlog.Row{d.Event("tick", "", time.Now(), nil)}})
			time.Sleep(70 * time.Millisecond)
		}
		<-followed
	})
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
