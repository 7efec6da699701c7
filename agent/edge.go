package agent

import (
	"cmp"
	"context"
	"crypto/rand"
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
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// claimLife is how long a claim code can be used.
	claimLife = 15 * time.Minute
	// claimSize is its length: 40 random bits, which somebody types once.
	claimSize = 8
	// claimLetters has 32 that are not taken for each other.
	claimLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// maxClaims is how many may be open; the oldest go first.
	maxClaims = 100
	// maxEdges is how many edge devices a building has at most.
	maxEdges = 500
)

// claimRate is how many wrong claim codes a network address may send.
var claimRate = auth.Rate{Burst: 10, Every: time.Minute}

// The kinds of edge devices.
const (
	EdgeDisplay = "display" // shows the page of the meeting space
	EdgeBoard   = "board"
)

// EdgeDevice is a board or a display in a room that has claimed its meeting
// space.
type EdgeDevice struct {
	ID         string    `json:"device_id"`
	SpaceID    string    `json:"meeting_space_id"`
	Kind       string    `json:"kind"` // EdgeDisplay or EdgeBoard
	Name       string    `json:"name"`
	Serial     string    `json:"serial,omitempty"` // its maker's, by which it is known again
	Registered time.Time `json:"registered_at"`

	// What it said of itself since the start.
	LastSeen time.Time `json:"-"` // zero: nothing
	UptimeS  int64     `json:"-"`
	Version  string    `json:"-"`
}

// edges are the edge devices and the claims that are open. A claim is kept in
// memory only, with its hash: it is good for minutes, and a restart ends it.
type edges struct {
	wrong auth.Limiter[netip.Prefix]

	mu     sync.Mutex
	known  map[string]storedEdge // by id
	claims []claimCode           // oldest first

	byKey atomic.Pointer[map[keyHash]EdgeDevice] // as known, but for what they said
}

type claimCode struct {
	hash    string
	spaceID string
	until   time.Time // by the monotonic clock
}

// NewClaim makes a code by which one edge device may claim a space, once and
// within the time that is returned. An older code of the space ends.
func (a *Agent) NewClaim(spaceID string) (code string, life time.Duration, err error) {
	if _, err := a.space(spaceID); err != nil {
		return "", 0, err
	}
	random := make([]byte, claimSize)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	for i, b := range random {
		random[i] = claimLetters[b%32]
	}
	code = string(random)
	a.edges.mu.Lock()
	defer a.edges.mu.Unlock()
	a.edges.prune(func(c claimCode) bool { return c.spaceID == spaceID })
	if len(a.edges.claims) >= maxClaims {
		a.edges.claims = a.edges.claims[1:]
	}
	a.edges.claims = append(a.edges.claims, claimCode{a.claimHash(code), spaceID, time.Now().Add(claimLife)})
	return code[:claimSize/2] + "-" + code[claimSize/2:], claimLife, nil
}

func (a *Agent) claimHash(code string) string {
	return string(a.signIn.keys.Hash("edge claim", code))
}

// prune drops claims that are too old, and others.
func (e *edges) prune(also func(claimCode) bool) {
	now := time.Now()
	e.claims = slices.DeleteFunc(e.claims, func(c claimCode) bool { return !now.Before(c.until) || also(c) })
}

// claimed takes a claim out, which nobody else can use then; what is typed
// wrongly but cannot be mistaken is taken as it is meant.
func (e *edges) claimed(hash string) (c claimCode, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.prune(func(x claimCode) bool {
		if x.hash == hash {
			c, ok = x, true
		}
		return x.hash == hash
	})
	return c, ok && time.Now().Before(c.until)
}

// claimText is a claim code as it was made.
func claimText(typed string) string {
	if len(typed) > 4*claimSize {
		return ""
	}
	return strings.NewReplacer(" ", "", "-", "", "O", "0", "I", "1", "L", "1", "U", "V").Replace(strings.ToUpper(typed))
}

// RegisterEdge gives an edge device the space of its claim code. One that is
// known by its serial number is registered anew, and its former id and key end.
// The secret of its key is returned once and stored hashed only.
func (a *Agent) RegisterEdge(ctx context.Context, code string, d EdgeDevice, from netip.Prefix) (_ EdgeDevice, secret string, _ error) {
	if err := d.check(); err != nil {
		return d, "", err
	}
	now := a.moment()
	if wait, ok := a.edges.wrong.Take(from, now); !ok {
		return d, "", problem.TooOften("too many wrong claim codes came from this network address", wait)
	}
	claim, ok := a.edges.claimed(a.claimHash(claimText(code)))
	if !ok {
		return d, "", refuse(Forbidden, "claim_code", "is wrong, used or too old: have a new one made for the meeting space")
	}
	a.edges.wrong.Return(from, now)
	d.ID, d.SpaceID = ulid.Make().String(), claim.spaceID
	d.Registered, d.LastSeen = a.Now().UTC().Truncate(time.Millisecond), time.Now()
	secret = auth.NewAPISecret(auth.EdgePrefix)
	if err := a.storeEdge(ctx, newStoredEdge(d, secret)); err != nil {
		a.edges.mu.Lock() // nothing was done, so the code is not used up
		a.edges.claims = append(a.edges.claims, claim)
		a.edges.mu.Unlock()
		return d, "", err
	}
	return d, secret, nil
}

func (d *EdgeDevice) check() error {
	d.Kind = cmp.Or(d.Kind, EdgeBoard)
	d.Name = strings.TrimSpace(d.Name)
	if d.Kind != EdgeDisplay && d.Kind != EdgeBoard {
		return refuse(Invalid, "kind", "is not known: want %s or %s", EdgeDisplay, EdgeBoard)
	}
	for _, f := range []struct{ field, text string }{{"name", d.Name}, {"serial", d.Serial}, {"version", d.Version}} {
		if len(f.text) > 100 || !utf8.ValidString(f.text) || strings.ContainsFunc(f.text, unicode.IsControl) {
			return refuse(Invalid, f.field, "is out of range: want at most 100 bytes of text")
		}
	}
	d.Name = cmp.Or(d.Name, d.Serial, d.Kind)
	return nil
}

// storeEdge stores a new edge device in the place of the one that it was.
func (a *Agent) storeEdge(ctx context.Context, d storedEdge) error {
	a.edges.mu.Lock()
	defer a.edges.mu.Unlock()
	next := maps.Clone(a.edges.known)
	maps.DeleteFunc(next, func(_ string, old storedEdge) bool { return d.Serial != "" && old.Serial == d.Serial })
	if len(next) >= maxEdges {
		return refuse(Full, "", "there are %d edge devices, the most that a gateway keeps: delete some", maxEdges)
	}
	next[d.ID] = d
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		for id := range a.edges.known {
			if _, stays := next[id]; stays {
				continue
			}
			if err := edgeDevices.Delete(tx, id); err != nil {
				return err
			}
		}
		if err := edgeDevices.Put(tx, d.ID, d); err != nil {
			return err
		}
		return a.tellEdge(tx, "edgeRegistered", d.EdgeDevice, nil)
	}, func() { a.edges.become(next) })
}

// tellEdge writes down what happened to an edge device.
func (a *Agent) tellEdge(tx *store.Tx, kind string, d EdgeDevice, more map[string]any) error {
	details := map[string]any{"edge_device_id": d.ID, "name": d.Name, "kind": d.Kind}
	maps.Copy(details, more)
	return a.Events.Tell(tx, eventlog.Record{Type: kind, Time: time.Now(), Space: d.SpaceID, Device: spaceDevice, Details: details})
}

// EdgeDevices returns every edge device, oldest first.
func (a *Agent) EdgeDevices() []EdgeDevice {
	a.edges.mu.Lock()
	defer a.edges.mu.Unlock()
	all := make([]EdgeDevice, 0, len(a.edges.known))
	for _, d := range a.edges.known {
		all = append(all, d.EdgeDevice)
	}
	slices.SortFunc(all, func(x, y EdgeDevice) int { return cmp.Compare(x.ID, y.ID) })
	return all
}

// EdgeDevice returns one edge device, or a refusal.
func (a *Agent) EdgeDevice(id string) (EdgeDevice, error) {
	a.edges.mu.Lock()
	defer a.edges.mu.Unlock()
	d, ok := a.edges.known[id]
	if !ok {
		return EdgeDevice{}, refuse(NotFound, "device_id", "is not a registered edge device: register it with a claim code")
	}
	return d.EdgeDevice, nil
}

// BeatEdge notes that an edge device is alive and what it says of itself.
func (a *Agent) BeatEdge(id string, uptimeS int64, version string) (EdgeDevice, error) {
	probe := EdgeDevice{Version: version}
	if err := probe.check(); err != nil {
		return probe, err
	}
	if uptimeS < 0 {
		return probe, refuse(Invalid, "uptime_s", "is out of range: want 0 or more")
	}
	a.edges.mu.Lock()
	defer a.edges.mu.Unlock()
	d, ok := a.edges.known[id]
	if !ok {
		return probe, refuse(NotFound, "device_id", "is not a registered edge device: register it with a claim code")
	}
	d.LastSeen, d.UptimeS, d.Version = time.Now(), uptimeS, version
	a.edges.known[id] = d
	return d.EdgeDevice, nil
}

// DeleteEdge forgets an edge device and its key.
func (a *Agent) DeleteEdge(ctx context.Context, id, by string) error {
	a.edges.mu.Lock()
	defer a.edges.mu.Unlock()
	d, ok := a.edges.known[id]
	if !ok {
		return refuse(NotFound, "edge_id", "is not a registered edge device")
	}
	next := maps.Clone(a.edges.known)
	delete(next, id)
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		if err := edgeDevices.Delete(tx, id); err != nil {
			return err
		}
		return a.tellEdge(tx, "edgeDeleted", d.EdgeDevice, map[string]any{"by": by})
	}, func() { a.edges.become(next) })
}

// loadEdges reads the edge devices. Those of a space that is gone stay, and
// reach nothing.
func (a *Agent) loadEdges(tx *store.Tx) error {
	a.edges.wrong.Rate = claimRate
	a.edges.become(maps.Collect(edgeDevices.All(tx)))
	if err := tx.Err(); err != nil {
		a.log.Error("an edge device cannot be read, it has to be registered anew", "error", err)
	}
	return nil
}
