package edge

import (
	"slices"
	"time"

	"roomgate/agent/auth"
)

// codeLife is how long a pairing code can be used.
const codeLife = 15 * time.Minute

// wrongCodes is how many wrong pairing codes a network address may send before it
// is told to wait. A right one counts also then, see guest.Codes.
var wrongCodes = auth.Rate{Burst: 10, Every: time.Minute}

// openCode is a pairing code that was not used yet. It is kept in memory only, with
// its hash: it is good for minutes, and a restart ends it.
type openCode struct {
	hash    string
	spaceID string
	until   time.Time // by the monotonic clock; zero: as long as the gateway runs
	phone   bool      // it is for somebody's phone, see NewPhoneCode
	by      string    // the display that shows it, if it is for a phone
}

// over says whether a code is too old.
func (c openCode) over(now time.Time) bool { return !c.until.IsZero() && !now.Before(c.until) }

// NewCode makes a code by which one edge device may register for a space, once
// and within the time that is returned. An older code of the space ends. It
// refuses a space that there is not.
func (ds *Devices) NewCode(spaceID string) (code string, life time.Duration, err error) {
	code, err = ds.newCode(openCode{spaceID: spaceID, until: time.Now().Add(codeLife)}, func(c openCode) bool {
		return c.spaceID == spaceID && !c.phone && !c.until.IsZero()
	})
	return code, codeLife, err
}

// LastingCode makes a code that is good for any number of edge devices until the
// gateway ends, as the links of a demo hold. No other code ends it.
func (ds *Devices) LastingCode(spaceID string) (code string, err error) {
	return ds.newCode(openCode{spaceID: spaceID}, func(openCode) bool { return false })
}

// newCode makes a code, and drops others. A space has a share of its own of codes for
// phones, one pairing code, and those that last.
func (ds *Devices) newCode(c openCode, dropped func(openCode) bool) (code string, err error) {
	if err := ds.o.Space(c.spaceID); err != nil {
		return "", err
	}
	code = auth.NewTyped()
	c.hash = ds.hash(code)
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.prune(dropped)
	if c.phone {
		ds.codes = dropOldest(ds.codes, maxPhoneCodes, func(x openCode) bool { return x.phone && x.spaceID == c.spaceID })
	}
	ds.codes = append(ds.codes, c)
	return code, nil
}

func (ds *Devices) hash(code string) string {
	return string(ds.o.Keys.Hash("edge claim", auth.TypedText(code)))
}

// prune drops codes that are too old, and others. The caller has the lock.
func (ds *Devices) prune(also func(openCode) bool) {
	now := time.Now()
	ds.codes = slices.DeleteFunc(ds.codes, func(c openCode) bool { return c.over(now) || also(c) })
}

// use takes a code out, which nobody else can use then, unless it lasts. One of a space that is gone is none.
func (ds *Devices) use(hash string) (c openCode, ok bool) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.prune(func(x openCode) bool {
		if x.hash == hash {
			c, ok = x, true
		}
		return x.hash == hash && !x.until.IsZero()
	})
	switch {
	case ok && c.phone:
		_, ok = ds.letsIn(c.spaceID, c.by)
	case ok:
		ok = ds.o.Space(c.spaceID) == nil
	}
	return c, ok && !c.over(time.Now())
}

// putBack makes a code good again of which nothing has come. One that lasts was not
// taken out.
func (ds *Devices) putBack(c openCode) {
	if c.until.IsZero() {
		return
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.codes = append(ds.codes, c)
}
