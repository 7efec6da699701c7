package health

import (
	"context"
	"strings"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	disks "roomgate/store/disk"
)

// Degraded is what a building lacks whose disk does not take what it has to store. Doors, status and displays go on.
type Degraded struct {
	// Storage is how the disk is: full, failing or read_only.
	Storage disks.State `json:"storage"`
	Since   time.Time   `json:"since"` // by a clock that may have been wrong
	Reason  string      `json:"reason"`
}

const (
	// watchEvery is how often the disk is looked after.
	watchEvery = time.Second
	// recoveredFor is for how long a disk has to take everything before that is told: one that is almost full takes
	// some changes and others not.
	recoveredFor = time.Minute
)

// Degraded is nil while the disk takes what is to be stored.
func (d Database) Degraded() *Degraded {
	c := d.db.Condition()
	if c.State == disks.Taking {
		return nil
	}
	return &Degraded{c.State, time.Now().Add(-time.Since(c.Since)).UTC().Truncate(time.Millisecond), strings.ReplaceAll(c.Err.Error(), "\n", "; ")}
}

// Watch tells what becomes of the disk until ctx ends.
func (m *Monitor) Watch(ctx context.Context) error {
	told := disks.Taking
	var good time.Time
	for ctx.Err() == nil {
		now, d := time.Now(), m.Database.Degraded()
		if d != nil {
			good = now
		}
		switch {
		case d != nil && d.Storage != told:
			told = d.Storage
			m.o.Log.Error("the building runs degraded: it refuses what the disk does not take, or keeps it in memory", "storage", d.Storage, "reason", d.Reason)
			m.later(eventDegraded, map[string]any{"storage": d.Storage, "reason": d.Reason})
		case d == nil && told != disks.Taking && now.Sub(good) >= recoveredFor:
			m.o.Log.Info("the disk takes everything again", "was", told)
			m.later(eventRecovered, map[string]any{"storage": told})
			told = disks.Taking
		}
		loop.Sleep(ctx, watchEvery)
	}
	return nil
}

// later tells an event about the gateway as soon as the disk takes it.
func (m *Monitor) later(event string, details map[string]any) {
	row, err := m.o.Events.Event(eventlog.Record{Type: event, Time: m.o.Clock.Now(), Device: eventlog.GatewayDevice, Details: details})
	if err != nil {
		m.o.Log.Error("cannot log an event", "event", event, "error", err)
		return
	}
	m.o.Events.Add(eventlog.Change{Rows: []eventlog.Row{row}})
}
