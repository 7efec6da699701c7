package drivertest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"roomgate/drivers"
)

// Silence is a way in which one fact of a device ends while it goes on about
// the others.
type Silence struct {
	// Sub is the sub-device whose value ends; empty is the device's own.
	Sub string
	// By is what the simulated world is told of Sub, as "null"; Back is what
	// ends it, "back" if empty.
	By, Back string
	// Within is how long it may take until the value is unknown: up to then it
	// may only age.
	Within time.Duration
	// Fresh is how old the other values may get meanwhile, 15 s if 0.
	Fresh time.Duration
	// Names is what the reason must name, Sub if empty.
	Names string
}

// silence: a fact that falls silent is unknown in time, and alone; the others
// are observed all the while, and it comes back when it is spoken of again.
func silence(b *bench) {
	b.start()
	for _, sub := range b.others("") {
		tried := slices.ContainsFunc(b.c.Silences, func(s Silence) bool { return s.Sub == sub })
		if why := b.c.Skip["silence "+sub]; !tried && why == "" {
			b.Errorf("the case does not say how %s falls silent", sub)
		}
	}
	for _, s := range b.c.Silences {
		b.pause() // what is told again and again was told so
		b.fallSilent(s)
		b.move(s.Sub, cmp.Or(s.Back, "back"))
		b.recovered()
	}
}

func (b *bench) fallSilent(s Silence) {
	b.Helper()
	what := strings.TrimSpace(s.Sub + " " + s.By)
	b.move(s.Sub, s.By)
	began := time.Now()
	for {
		b.pause()
		statuses, err := b.poll()
		for _, other := range b.others(s.Sub) {
			b.checkOther(what, s, of(statuses, other))
		}
		one := of(statuses, s.Sub)
		if err == nil {
			err = one.Err
		}
		switch {
		case err != nil && !strings.Contains(err.Error(), cmp.Or(s.Names, s.Sub)):
			b.Errorf("%s: the reason %q does not name %q", what, err, cmp.Or(s.Names, s.Sub))
			return
		case err != nil:
			return
		case one.ObservedAt.After(began.Add(b.slack())) && one.Source != drivers.SourceCommand:
			b.Errorf("%s: it is told as seen %s after that", what, one.ObservedAt.Sub(began))
			return
		case time.Since(began) > s.Within+b.slack():
			b.Errorf("%s: after %s it is still %q", what, time.Since(began), one.Value)
			return
		}
	}
}

// others are the sub-devices that are fitted, but for the silent one.
func (b *bench) others(silent string) (all []string) {
	for _, sub := range drivers.SubDevices(b.c.Kind.Type) {
		if sub != silent && !slices.Contains(b.c.Unfitted, sub) {
			all = append(all, sub)
		}
	}
	return all
}

func (b *bench) checkOther(what string, s Silence, other drivers.Status) {
	b.Helper()
	age := time.Since(other.ObservedAt)
	if other.Err != nil || age > max(s.Fresh, 15*time.Second) {
		b.Errorf("%s: %q suffers too: %q of %s ago, %v", what, other.Sub, other.Value, age, other.Err)
	}
}
