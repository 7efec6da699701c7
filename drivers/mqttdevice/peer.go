package mqttdevice

import (
	"fmt"
	"slices"
	"time"

	"roomgate/drivers"
)

const (
	// retry is the time between two questions to a device that has not yet
	// answered.
	retry = 10 * time.Second
	// memory is how long after its start a bridge may send what it remembers
	// as if it were new.
	memory = 10 * time.Second
)

// known is the last that was said of a fact.
type known struct {
	fact
	at    time.Time
	nth   uint64 // counts what was said
	fresh bool   // said on this connection, by a device that is there
}

// peer is what one device at the broker has said. Its news guards it.
type peer struct {
	dialect dialect
	silence time.Duration
	sleeps  bool

	facts map[string]known
	away  map[string]bool // deviceIs, bridgeIs
	heard time.Time       // when a fact was last fresh; zero: never on this connection
	asked time.Time
	doubt time.Time // what is said before may be a memory of the bridge's
	nth   uint64
}

func newPeer(d dialect, silence time.Duration, sleeps bool) *peer {
	return &peer{dialect: d, silence: silence, sleeps: sleeps, facts: map[string]known{}, away: map[string]bool{}}
}

// forget is for a new connection: what was said on an earlier one may have
// changed since.
func (p *peer) forget() {
	clear(p.facts)
	clear(p.away)
	p.heard, p.asked, p.doubt = time.Time{}, time.Time{}, time.Time{}
}

// take takes what a message says.
func (p *peer) take(facts []fact, retained bool, now time.Time) {
	for _, f := range facts {
		switch f.name {
		case bridgeIs, deviceIs:
			p.presence(f, retained, now)
		case aliveIs:
			if !retained { // nodes have their answers retained too
				p.vouch(now)
			}
		case wholeIs, roundIs:
			if !retained {
				p.leftOut(facts, f.name == wholeIs, now)
			}
		default:
			p.file(f, !retained && !now.Before(p.doubt), now)
		}
	}
}

func (p *peer) file(f fact, fresh bool, now time.Time) {
	p.nth++
	p.facts[f.name] = known{f, now, p.nth, fresh}
	if fresh {
		p.heard = now
	}
}

// presence takes a last will or its opposite. Anybody who comes back is asked
// again, and what was known is no more.
func (p *peer) presence(f fact, retained bool, now time.Time) {
	if f.name == deviceIs && p.sleeps {
		return
	}
	p.away[f.name] = f.text == offline
	if f.text == offline {
		for name, k := range p.facts {
			k.fresh = false
			p.facts[name] = k
		}
		p.heard = time.Time{}
		return
	}
	if !retained {
		p.asked = time.Time{}
		if f.name == bridgeIs {
			p.doubt = now.Add(memory)
		}
	}
}

// leftOut takes note of what a message that should have everything does not
// have: it is gone, or it is asked for.
func (p *peer) leftOut(facts []fact, whole bool, now time.Time) {
	for name, k := range p.facts {
		if _, told := get(facts, name); told || !k.fresh || k.err != nil {
			continue
		}
		if !whole {
			p.asked = time.Time{}
			continue
		}
		p.nth++
		p.facts[name] = known{fact{name: name, err: errLeftOut}, now, p.nth, true}
	}
}

// measured are the facts that are told again and again, whether they change or
// not: to be silent about them is a fault.
var measured = []string{temperature, humidity, battery, linkQuality}

// vouch makes the last word on everything that is told only when it changes as
// good as new.
func (p *peer) vouch(now time.Time) {
	p.heard = now
	for name, k := range p.facts {
		if !slices.Contains(measured, name) {
			p.nth++
			p.facts[name] = known{k.fact, now, p.nth, true}
		}
	}
}

// garbled makes everything unknown: the device has said something newer than
// what we remember.
func (p *peer) garbled(err error) {
	for name, k := range p.facts {
		k.err = err
		p.facts[name] = k
	}
}

// gone is why nothing is known of the device; nil if something is.
func (p *peer) gone(now time.Time) error {
	switch {
	case p.away[bridgeIs]:
		return fmt.Errorf("%w: the bridge that speaks for it at the broker is offline", drivers.ErrOffline)
	case p.away[deviceIs]:
		return fmt.Errorf("%w: it was reported as offline at the broker", drivers.ErrOffline)
	case p.heard.IsZero() && p.asks():
		return fmt.Errorf("%w: no answer to %s", drivers.ErrOffline, p.dialect.ask()[0].Topic)
	case p.heard.IsZero():
		return fmt.Errorf("no report on %s since the broker was connected%s", p.dialect.topics()[0], p.last())
	case now.Sub(p.heard) >= p.silence:
		return fmt.Errorf("%w: no report for %s", drivers.ErrOffline, now.Sub(p.heard).Round(time.Second))
	}
	return nil
}

// last says that something older is known.
func (p *peer) last() string {
	if len(p.facts) == 0 {
		return ""
	}
	return ", only a last known value of unknown age"
}

// asks says whether the device can be asked.
func (p *peer) asks() bool { return !p.sleeps && len(p.dialect.ask()) > 0 }

// due is when to ask next; never if that is of no use.
func (p *peer) due() (at time.Time, ever bool) {
	switch {
	case !p.asks() || p.away[bridgeIs] || p.away[deviceIs]:
		return at, false
	case p.asked.IsZero():
		return at, true
	case p.heard.IsZero():
		return p.asked.Add(retry), true
	}
	return p.asked.Add(p.silence / 3), true
}

// get returns the last word on a fact, which ages by itself: that the device
// goes on about others does not keep it.
func (p *peer) get(name string, now time.Time) (known, error) {
	if err := p.gone(now); err != nil {
		return known{}, err
	}
	k, ok := p.facts[name]
	switch {
	case !ok:
		return k, fmt.Errorf("no report of the %s since the broker was connected", name)
	case k.err != nil:
		return k, fmt.Errorf("%s: %w", name, k.err)
	case !k.fresh:
		return k, fmt.Errorf("only a last known %s of unknown age", name)
	case now.Sub(k.at) >= p.silence:
		return k, fmt.Errorf("%w: no report of the %s for %s", drivers.ErrNoValue, name, now.Sub(k.at).Round(time.Second))
	}
	return k, nil
}

// order is what a device was told and has to report.
type order struct {
	want   []fact
	after  uint64  // reports up to here do not count
	before float64 // the level
}

// followed says whether all that was ordered was reported since. A level may
// be off by one, unless it is the one that was before: that report may have
// been on its way already.
func (p *peer) followed(o order) bool {
	for _, w := range o.want {
		k := p.facts[w.name]
		if !k.fresh || k.nth <= o.after || !k.same(w) {
			return false
		}
		if w.name == level && k.number != w.number && k.number == o.before {
			return false
		}
	}
	return true
}

// details are the numbers beside a value, as far as they are known.
func (p *peer) details(now time.Time, names ...string) map[string]any {
	var all map[string]any
	for _, name := range names {
		k, err := p.get(name, now)
		if err != nil {
			continue
		}
		if all == nil {
			all = map[string]any{}
		}
		all[name] = k.number
	}
	return all
}
