package edge

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// PhoneLife is how long a phone that was let in shows the page of a room.
	PhoneLife = 15 * time.Minute
	// phoneCodeLife is how long a code for a phone can be used: somebody stands
	// before it.
	phoneCodeLife = 5 * time.Minute
	// maxPhones is how many are let in to one space at one time; its oldest go first.
	maxPhones = 40
	// maxPhoneCodes is how many codes for phones of one space may be open; its oldest
	// go first.
	maxPhoneCodes = 20
)

// What the log says of phones. Both name the display that lets them in.
const (
	EventPhoneCode  = "phoneCodeCreated"
	EventPhoneLetIn = "phoneLetIn"
)

// phone is somebody's, who has scanned a code at a door. It is kept in memory only:
// a restart ends it, and so do time and the end of the display that let it in.
type phone struct {
	Device
	key   keyHash
	until time.Time // by the monotonic clock
	by    string    // the display that let it in
}

// NewPhoneCode makes a code by which one phone is let in to the page of a space for
// PhoneLife, once and within the time that is returned. displayID is the edge device
// that asks: it refuses who is no display of that space, and a space that there is
// not.
func (ds *Devices) NewPhoneCode(ctx context.Context, spaceID, displayID string) (code string, life time.Duration, err error) {
	if err := ds.o.Space(spaceID); err != nil {
		return "", 0, err
	}
	display, ok := ds.letsIn(spaceID, displayID)
	if !ok {
		return "", 0, problem.New(problem.Forbidden, "", "only the display at the door of this room lets a phone in: scan the code there")
	}
	if err := ds.tellPhone(ctx, EventPhoneCode, display, nil); err != nil {
		return "", 0, err
	}
	code, err = ds.newCode(openCode{spaceID: spaceID, until: time.Now().Add(phoneCodeLife), phone: true, by: displayID}, func(openCode) bool { return false })
	return code, phoneCodeLife, err
}

// letsIn says whether an edge device is a display of a space that there is, which may
// let phones in there, and whose phones are good. It waits for no disk.
func (ds *Devices) letsIn(spaceID, displayID string) (Device, bool) {
	d, ok := ds.now.Load().byID[displayID]
	return d, ok && d.Kind == Display && d.SpaceID == spaceID && ds.o.Space(spaceID) == nil
}

// letIn gives a phone a key of its own. now is by the monotonic clock.
func (ds *Devices) letIn(ctx context.Context, code openCode, now time.Time) (Device, string, error) {
	secret := auth.NewAPISecret(auth.EdgePrefix)
	p := phone{Device{ID: ulid.Make().String(), SpaceID: code.spaceID, Kind: Phone, Name: Phone, LastSeen: now,
		Registered: ds.o.Clock.Now().UTC().Truncate(time.Millisecond)}, sha256.Sum256([]byte(secret)), now.Add(PhoneLife), code.by}
	display, ok := ds.letsIn(code.spaceID, code.by)
	if !ok {
		return p.Device, "", errWrongCode()
	}
	if err := ds.tellPhone(ctx, EventPhoneLetIn, display, map[string]any{"phone_id": p.ID}); err != nil {
		return p.Device, "", err
	}
	ds.phones.add(p, now)
	return p.Device, secret, nil
}

func (ds *Devices) tellPhone(ctx context.Context, kind string, display Device, more map[string]any) error {
	return ds.o.Events.Update(ctx, func(tx *store.Tx) error { return ds.tell(tx, kind, display, more) })
}

// phones are those that are let in. No disk is waited for with its lock.
type phones struct {
	mu  sync.Mutex
	all []phone // oldest first
}

// add lets one in; the oldest of its space goes where they are too many.
func (p *phones) add(one phone, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prune(func(x phone) bool { return !now.Before(x.until) })
	p.all = dropOldest(p.all, maxPhones, func(x phone) bool { return x.SpaceID == one.SpaceID })
	p.all = append(p.all, one)
}

// prune forgets some. The caller has the lock.
func (p *phones) prune(over func(phone) bool) { p.all = slices.DeleteFunc(p.all, over) }

// end forgets some.
func (p *phones) end(over func(phone) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prune(over)
}

// find returns the first one of a kind, if it is still let in.
func (p *phones) find(is func(phone) bool) (phone, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.prune(func(x phone) bool { return !now.Before(x.until) })
	if i := slices.IndexFunc(p.all, is); i >= 0 {
		return p.all[i], true
	}
	return phone{}, false
}

// phone returns the first phone of a kind, if it is still let in, and who let it in
// still may.
func (ds *Devices) phone(is func(phone) bool) (Device, bool) {
	p, ok := ds.phones.find(is)
	if ok {
		_, ok = ds.letsIn(p.SpaceID, p.by)
	}
	if !ok {
		return Device{}, false
	}
	return p.Device, true
}

// Holds says whether an edge device is registered, or a phone is still let in.
func (ds *Devices) Holds(id string) bool {
	if _, ok := ds.now.Load().byID[id]; ok {
		return true
	}
	_, in := ds.phone(func(p phone) bool { return p.ID == id })
	return in
}

// dropOldest makes room for one more of a share: it drops the oldest of all that are
// in the share, until there are fewer than most.
func dropOldest[T any](all []T, most int, in func(T) bool) []T {
	n := 0
	for _, x := range all {
		if in(x) {
			n++
		}
	}
	return slices.DeleteFunc(all, func(x T) bool {
		if n < most || !in(x) {
			return false
		}
		n--
		return true
	})
}
