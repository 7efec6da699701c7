// Package edge keeps the boards and displays in the rooms: each is registered for
// one meeting space with a claim code, has a key of its own from then on, and
// says that it is alive.
package edge

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud/guest"
	"roomgate/store"
)

// maxDevices is how many edge devices a building has at most.
const maxDevices = 500

// The kinds of edge devices.
const (
	Display = "display" // shows the page of the meeting space
	Board   = "board"
)

// Options are what the edge devices stand on, and what they ask the building.
type Options struct {
	DB     *store.DB
	Events *eventlog.Log
	Clock  *clock.Clock
	Keys   *auth.Keys // by which claim codes are hashed
	Log    *slog.Logger

	// Space refuses the id of a meeting space that there is not.
	Space func(id string) error
}

// Device is a board or a display in a room that is registered for its meeting
// space.
type Device struct {
	ID         string    `json:"device_id"`
	SpaceID    string    `json:"meeting_space_id"`
	Kind       string    `json:"kind"` // Display or Board
	Name       string    `json:"name"`
	Serial     string    `json:"serial,omitempty"` // its maker's, by which it is known again
	Registered time.Time `json:"registered_at"`

	// What it said of itself since the start.
	LastSeen time.Time `json:"-"` // zero: nothing
	UptimeS  int64     `json:"-"`
	Version  string    `json:"-"`
}

// table holds the edge devices by id.
var table = store.NewTable[storedDevice]("edge-devices")

// Buckets names the table in the store.
func Buckets() []string { return []string{table.Bucket()} }

// Words are what people have called the edge devices, and their serial numbers.
func Words(tx *store.Tx) (words []string) {
	for _, d := range table.All(tx) {
		words = append(words, d.Name, d.Serial)
	}
	return words
}

// Devices are the edge devices and the claim codes that are open. It may be used by
// many.
type Devices struct {
	o     Options
	wrong guest.Tries[netip.Prefix]

	mu    sync.Mutex
	known map[string]storedDevice // by id
	codes []openCode              // oldest first

	byKey atomic.Pointer[map[keyHash]Device] // as known, but for what they said
}

// Open reads the edge devices. Those of a space that is gone stay, and reach
// nothing.
func Open(_ context.Context, o Options) (*Devices, error) {
	b := &Devices{o: o, wrong: guest.Tries[netip.Prefix]{Burst: wrongCodes.Burst, Every: wrongCodes.Every}}
	return b, o.DB.View(func(tx *store.Tx) error {
		b.become(maps.Collect(table.All(tx)))
		if err := tx.Err(); err != nil {
			o.Log.Error("an edge device cannot be read: register it again", "error", err)
		}
		return nil
	})
}

// Register gives an edge device the space of its claim code. One that is known by
// its serial number is registered again, and its former id and key end. The
// secret of its key is returned once and stored hashed only. It refuses a code
// that is wrong, used or too old, a device too many, and what is no device.
func (b *Devices) Register(ctx context.Context, typed string, d Device, from netip.Prefix) (_ Device, secret string, _ error) {
	if err := d.check(); err != nil {
		return d, "", err
	}
	now := time.Now()
	if wait, ok := b.wrong.Take(from, now); !ok {
		return d, "", problem.TooOften("too many wrong claim codes came from this network address", wait)
	}
	code, ok := b.use(b.hash(codeText(typed)))
	if !ok {
		return d, "", problem.New(problem.Forbidden, "claim_code", "is wrong, used or too old: have a new one made for the meeting space")
	}
	b.wrong.Return(from, now)
	d.ID, d.SpaceID = ulid.Make().String(), code.spaceID
	d.Registered, d.LastSeen = b.o.Clock.Now().UTC().Truncate(time.Millisecond), time.Now()
	secret = auth.NewAPISecret(auth.EdgePrefix)
	if err := b.add(ctx, newStoredDevice(d, secret)); err != nil {
		b.mu.Lock() // nothing was done, so the code is not used up
		b.codes = append(b.codes, code)
		b.mu.Unlock()
		return d, "", err
	}
	return d, secret, nil
}

func (d *Device) check() error {
	d.Kind = cmp.Or(d.Kind, Board)
	d.Name = strings.TrimSpace(d.Name)
	if d.Kind != Display && d.Kind != Board {
		return problem.New(problem.Invalid, "kind", "is not known: want %s or %s", Display, Board)
	}
	for _, f := range []struct{ field, text string }{{"name", d.Name}, {"serial", d.Serial}, {"version", d.Version}} {
		if len(f.text) > 100 || !utf8.ValidString(f.text) || strings.ContainsFunc(f.text, unicode.IsControl) {
			return problem.New(problem.Invalid, f.field, "is out of range: want at most 100 bytes of text")
		}
	}
	d.Name = cmp.Or(d.Name, d.Serial, d.Kind)
	return nil
}

// add stores a new edge device in the place of the one that it was.
func (b *Devices) add(ctx context.Context, d storedDevice) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := maps.Clone(b.known)
	maps.DeleteFunc(next, func(_ string, old storedDevice) bool { return d.Serial != "" && old.Serial == d.Serial })
	if len(next) >= maxDevices {
		return problem.New(problem.Full, "", "there are %d edge devices, the most that a gateway keeps: delete some", maxDevices)
	}
	next[d.ID] = d
	return b.o.Events.Update(ctx, func(tx *store.Tx) error {
		for id := range b.known {
			if _, stays := next[id]; stays {
				continue
			}
			if err := table.Delete(tx, id); err != nil {
				return err
			}
		}
		if err := table.Put(tx, d.ID, d); err != nil {
			return err
		}
		return b.tell(tx, "edgeRegistered", d.Device, nil)
	}, func() { b.become(next) })
}

// tell writes down what happened to an edge device.
func (b *Devices) tell(tx *store.Tx, kind string, d Device, more map[string]any) error {
	details := map[string]any{"edge_device_id": d.ID, "name": d.Name, "kind": d.Kind}
	maps.Copy(details, more)
	return b.o.Events.Tell(tx, eventlog.Record{Type: kind, Time: time.Now(), Space: d.SpaceID, Device: eventlog.SpaceDevice, Details: details})
}

// List returns every edge device, oldest first.
func (b *Devices) List() []Device {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]Device, 0, len(b.known))
	for _, d := range b.known {
		all = append(all, d.Device)
	}
	slices.SortFunc(all, func(x, y Device) int { return cmp.Compare(x.ID, y.ID) })
	return all
}

// Get returns one edge device, or a refusal.
func (b *Devices) Get(id string) (Device, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, err := b.get(id)
	return d.Device, err
}

// get is Get for who has the lock.
func (b *Devices) get(id string) (storedDevice, error) {
	d, ok := b.known[id]
	if !ok {
		return d, problem.New(problem.NotFound, "device_id", "is not a registered edge device: register it with a claim code")
	}
	return d, nil
}

// Beat notes that an edge device is alive and what it says of itself: for how
// many seconds it has been up, and its version.
func (b *Devices) Beat(id string, uptimeS int64, version string) (Device, error) {
	probe := Device{Version: version}
	if err := probe.check(); err != nil {
		return probe, err
	}
	if uptimeS < 0 {
		return probe, problem.New(problem.Invalid, "uptime_s", "is out of range: want 0 or more")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d, err := b.get(id)
	if err != nil {
		return probe, err
	}
	d.LastSeen, d.UptimeS, d.Version = time.Now(), uptimeS, version
	b.known[id] = d
	return d.Device, nil
}

// Delete forgets an edge device and its key. by is who wanted it.
func (b *Devices) Delete(ctx context.Context, id, by string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, ok := b.known[id]
	if !ok {
		return problem.New(problem.NotFound, "edge_id", "is not a registered edge device")
	}
	next := maps.Clone(b.known)
	delete(next, id)
	return b.o.Events.Update(ctx, func(tx *store.Tx) error {
		if err := table.Delete(tx, id); err != nil {
			return err
		}
		return b.tell(tx, "edgeDeleted", d.Device, map[string]any{"by": by})
	}, func() { b.become(next) })
}
