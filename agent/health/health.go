// Package health says how the gateway is: to the cloud by heartbeat, to
// Prometheus by metrics, to a supervisor by readiness and progress, and to
// people by the doctor. It asks the other nouns and changes nothing of them.
package health

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/schedule"
	"roomgate/store"
)

// Options are what the health stands on.
type Options struct {
	DB     *store.DB
	Events *eventlog.Log
	Clock  *clock.Clock
	Log    *slog.Logger

	Config     *config.Config
	DataDir    string // the folder of the database
	Version    string
	NotStarted []NotStarted // releases that the start of this program passed over
	Simulated  bool         // no hardware is below it
	Started    time.Time    // with a monotonic reading
	// Spaces are the meeting spaces as they are now, in order.
	Spaces func() []Space
	// Queues is what waits for somebody else besides the cloud.
	Queues func() Queues
	// Cloud is how the link to the cloud is.
	Cloud func() Cloud
	// Send sends the cloud a message that is worth nothing late.
	Send func(ctx context.Context, r Report)
}

// Space is a meeting space as its health is seen.
type Space struct {
	Name     string
	Room     *schedule.Room
	Devices  []*device.Device
	Presence func() schedule.Presence
}

// Cloud is how the link to the cloud is.
type Cloud struct {
	Connected bool
	Contested int      // connections in a row that the broker closed soon, as another gateway has this id
	Acked     uint64   // how far the cloud has acknowledged the log
	Trouble   *Trouble // nil: none
	// DoorsUnsigned says that a command to a door needs no signature; SigningKeys are
	// the ids of the keys that signatures are verified by.
	DoorsUnsigned bool
	SigningKeys   []string
	Revision      uint64 // of the configuration that the cloud manages; 0: none came
	// Certificate is that which the gateway gets from its cloud; nil: there is to be none.
	Certificate *Certificate
}

// Monitor knows how the gateway is. It may be used by many.
type Monitor struct {
	Database Database
	o        Options
	began    uint64    // where the log ended at the start
	told     time.Time // when a duplicate id was last told; zero: never. It belongs to the link
	card     *Card     // of the data folder; nil: not known. What it says of itself changes by the month
}

// Open looks where the log ends. It asks none of the functions.
func Open(_ context.Context, o Options) (*Monitor, error) {
	last, err := o.Events.Last()
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	return &Monitor{Database: Database{o.DB}, o: o, began: last, card: cardBelow("/", o.DataDir)}, nil
}

// Uptime is how long this run has lasted.
func (m *Monitor) Uptime() time.Duration { return time.Since(m.o.Started) }

// Beat sends heartbeats until ctx ends. One is worth nothing late, so none is kept.
func (m *Monitor) Beat(ctx context.Context) error {
	for ctx.Err() == nil {
		if m.o.Cloud().Connected {
			m.o.Send(ctx, m.Report())
		}
		loop.Sleep(ctx, m.o.Config.Cloud.Heartbeat)
	}
	return nil
}

// Ready is nil once the store is open and sound and every device had its first verdict.
func (m *Monitor) Ready() error {
	if err := m.Database.Sound(); err != nil {
		return err
	}
	for _, s := range m.o.Spaces() {
		for _, d := range s.Devices {
			if !d.Seen() {
				return fmt.Errorf("%s has not been observed yet", s.title(d))
			}
		}
	}
	return nil
}

// Progress is nil while every loop moves. It feeds the watchdog: better a
// restart than a building that only seems to work.
func (m *Monitor) Progress() error {
	now := time.Now()
	if err := m.Database.hangs(now); err != nil {
		return err
	}
	for _, s := range m.o.Spaces() {
		for _, d := range s.Devices {
			if since, stuck := d.Stuck(now); stuck {
				return fmt.Errorf("the loop of %s has not moved since %s", s.title(d), since.UTC().Format(time.RFC3339))
			}
		}
	}
	return nil
}

// title is a device in words that a person finds it by.
func (s Space) title(d *device.Device) string { return d.Type + " in " + s.Name }
