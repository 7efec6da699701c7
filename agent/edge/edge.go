// Package edge keeps the displays, boards and phones of the rooms: each is registered for
// one meeting space with a pairing code, has a key of its own from then on, and
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

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
	"roomgate/cloud/guest"
	"roomgate/store"
)

const (
	// maxDevices is how many edge devices a building has at most.
	maxDevices = 500
	// maxOfOrg is how many of them are in the spaces of one organization, so that one
	// tenant does not take the places of the others.
	maxOfOrg = 250
)

// The kinds of edge devices.
const (
	Display = "display" // shows the page of the meeting space
	Board   = "board"
	Phone   = "phone" // somebody's, which shows that page for a while
)

// Options are what the edge devices stand on, and what they ask the building.
type Options struct {
	DB     *store.DB
	Events *eventlog.Log
	Clock  *clock.Clock
	Keys   *auth.Keys // by which pairing codes are hashed
	Log    *slog.Logger

	// Space refuses the id of a meeting space that there is not.
	Space func(id string) error
	// Owner is the organization of a meeting space, empty: nobody's. It refuses the id
	// of one that there is not.
	Owner func(spaceID string) (organizationID string, err error)
}

// Device is a display, a board or a phone that is registered for a meeting
// space.
type Device struct {
	ID         string    `json:"device_id"`
	SpaceID    string    `json:"meeting_space_id"`
	Kind       string    `json:"kind"` // Display, Board or Phone
	Name       string    `json:"name"`
	Serial     string    `json:"serial,omitempty"` // its maker's, by which it is known again
	Registered time.Time `json:"registered_at"`

	// What it said of itself since the start.
	LastSeen time.Time `json:"-"` // zero: nothing
	Address  string    `json:"-"` // that it was last heard from; empty: nothing
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

// Devices are the edge devices and the pairing codes that are open. It may be used by
// many.
type Devices struct {
	o        Options
	wrong    *guest.Codes
	reported guest.Tries[string] // by meeting space
	phones   phones

	mu    sync.Mutex
	known map[string]storedDevice // by id
	codes []openCode              // oldest first

	now atomic.Pointer[inForce]
}

// Open reads the edge devices. Those of a space that is gone stay, and reach
// nothing.
func Open(_ context.Context, o Options) (*Devices, error) {
	e := &Devices{o: o, wrong: guest.NewCodes(wrongCodes.Burst, wrongCodes.Every, codeLife),
		reported: guest.Tries[string]{Burst: reports.Burst, Every: reports.Every}}
	return e, o.DB.View(func(tx *store.Tx) error {
		e.become(maps.Collect(table.All(tx)))
		if err := tx.Err(); err != nil {
			o.Log.Error("an edge device cannot be read: register it again", "error", err)
		}
		return nil
	})
}

// Register gives an edge device the space of its pairing code. One that is known by
// its serial number within the organization of that space is registered again, and
// its former id and key end: a number says nothing of a device of another tenant. The
// secret of its key is returned once and stored hashed only. It refuses a code
// that is wrong, used or too old, a device too many, and what is no device.
func (ds *Devices) Register(ctx context.Context, typed string, d Device, from netip.Prefix) (_ Device, secret string, _ error) {
	if err := d.check(); err != nil {
		return d, "", err
	}
	now := time.Now()
	wait, look := ds.wrong.Take(from, now)
	var code openCode
	if look {
		code, look = ds.use(ds.hash(typed))
	}
	if !look && wait > 0 {
		return d, "", problem.TooOften("too many wrong pairing codes came from this network address", wait)
	}
	if !look {
		return d, "", errWrongCode()
	}
	ds.wrong.Return(from, now)
	if d.SpaceID != "" && d.SpaceID != code.spaceID {
		ds.putBack(code)
		return d, "", problem.New(problem.Conflict, "meeting_space_id", "is not the meeting space that the pairing code was made for: leave it out, or have a code made for it")
	}
	if code.phone {
		p, secret, err := ds.letIn(ctx, code, now)
		if err != nil {
			ds.putBack(code)
		}
		return p, secret, err
	}
	d.ID, d.SpaceID = ulid.Make().String(), code.spaceID
	d.Registered, d.LastSeen = ds.o.Clock.Now().UTC().Truncate(time.Millisecond), time.Now()
	secret = auth.NewAPISecret(auth.EdgePrefix)
	if err := ds.add(ctx, newStoredDevice(d, secret)); err != nil {
		ds.putBack(code)
		return d, "", err
	}
	return d, secret, nil
}

func errWrongCode() error {
	return problem.New(problem.Forbidden, "claim_code", "is wrong, used or too old: have a new one made for the meeting space")
}

func (d *Device) check() error {
	d.Kind = cmp.Or(d.Kind, Board)
	d.Name = strings.TrimSpace(d.Name)
	if d.Kind != Display && d.Kind != Board {
		return problem.New(problem.Invalid, "kind", "is not known: want %s or %s", Display, Board)
	}
	for _, f := range []struct{ field, text string }{{"name", d.Name}, {"serial", d.Serial}, {"version", d.Version}} {
		if len(f.text) > 100 || !printable.Line(f.text) {
			return problem.New(problem.Invalid, f.field, "is out of range: want at most 100 bytes of text, without control characters")
		}
	}
	d.Name = cmp.Or(d.Name, d.Serial, d.Kind)
	return nil
}

// add stores a new edge device in the place of the one that it was.
func (ds *Devices) add(ctx context.Context, d storedDevice) error {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	next := maps.Clone(ds.known)
	maps.DeleteFunc(next, func(_ string, old storedDevice) bool {
		return d.Serial != "" && old.Serial == d.Serial && ds.sameOwner(old, d)
	})
	if len(next) >= maxDevices {
		return problem.New(problem.Full, "", "there are %d edge devices, the most that a gateway keeps: delete some", maxDevices)
	}
	if ds.ofOwner(next, d) >= maxOfOrg {
		return problem.New(problem.Full, "meeting_space_id", "is of an organization with %d edge devices, the most that one has: delete some", maxOfOrg)
	}
	next[d.ID] = d
	return ds.o.Events.Update(ctx, func(tx *store.Tx) error {
		for id := range ds.known {
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
		return ds.tell(tx, eventRegistered, d.Device, nil)
	}, func() { ds.become(next) })
}

// sameOwner says whether two edge devices are of the same organization. One of a space
// that is gone is of nobody that is known, and stays.
func (ds *Devices) sameOwner(x, y storedDevice) bool {
	one, err := ds.o.Owner(x.SpaceID)
	other, otherErr := ds.o.Owner(y.SpaceID)
	return x.SpaceID == y.SpaceID || err == nil && otherErr == nil && one == other
}

// ofOwner is how many edge devices are of the organization of one; of nobody's: 0.
func (ds *Devices) ofOwner(all map[string]storedDevice, d storedDevice) (n int) {
	if owner, err := ds.o.Owner(d.SpaceID); err != nil || owner == "" {
		return 0
	}
	for _, other := range all {
		if ds.sameOwner(other, d) {
			n++
		}
	}
	return n
}

// tell writes down what happened to an edge device.
func (ds *Devices) tell(tx *store.Tx, kind string, d Device, more map[string]any) error {
	details := map[string]any{"edge_device_id": d.ID, "name": d.Name, "kind": d.Kind}
	maps.Copy(details, more)
	return ds.o.Events.Tell(tx, eventlog.Record{Type: kind, Time: time.Now(), Space: d.SpaceID, Device: eventlog.SpaceDevice, Details: details})
}

// List returns every edge device, oldest first.
func (ds *Devices) List() []Device {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	all := make([]Device, 0, len(ds.known))
	for _, d := range ds.known {
		all = append(all, d.Device)
	}
	slices.SortFunc(all, func(x, y Device) int { return cmp.Compare(x.ID, y.ID) })
	return all
}

// Get returns one edge device, or a refusal.
func (ds *Devices) Get(id string) (Device, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	d, err := ds.get(id)
	return d.Device, err
}

// get is Get for who has the lock.
func (ds *Devices) get(id string) (storedDevice, error) {
	d, ok := ds.known[id]
	if !ok {
		return d, problem.New(problem.NotFound, "device_id", "is not a registered edge device: register it with a pairing code")
	}
	return d, nil
}

// Beat notes that an edge device is alive, at which address, and what it says of itself:
// for how many seconds it has been up, and its version.
func (ds *Devices) Beat(id, address string, uptimeS int64, version string) (Device, error) {
	probe := Device{Version: version}
	if err := probe.check(); err != nil {
		return probe, err
	}
	if uptimeS < 0 {
		return probe, problem.New(problem.Invalid, "uptime_s", "is out of range: want 0 or more")
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	d, err := ds.get(id)
	if err != nil {
		return probe, err
	}
	d.LastSeen, d.Address, d.UptimeS, d.Version = time.Now(), address, uptimeS, version
	ds.known[id] = d
	return d.Device, nil
}

// Delete forgets an edge device and its key. by is who wanted it.
func (ds *Devices) Delete(ctx context.Context, id, by string) error {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	d, ok := ds.known[id]
	if !ok {
		return problem.New(problem.NotFound, "edge_id", "is not a registered edge device")
	}
	next := maps.Clone(ds.known)
	delete(next, id)
	return ds.o.Events.Update(ctx, func(tx *store.Tx) error {
		if err := table.Delete(tx, id); err != nil {
			return err
		}
		return ds.tell(tx, eventDeleted, d.Device, map[string]any{"by": by})
	}, func() { ds.become(next) })
}
