package peers

import (
	"maps"
	"slices"
	"time"

	"roomgate/drivers/sim"
)

// disorderTime is how long a device leaves the wrong report as its last word.
const disorderTime = time.Second

// disorder is what becomes of the reports of a device that sends them on several
// ways: the one before comes after the one that replaces it. Then it says
// the right one again.
type disorder struct {
	on    bool
	last  map[string]meant // by topic
	wrong map[string]bool  // topics whose last word is the wrong one
	again time.Time        // when the right one follows; zero: it is said
}

// meant is a message, and what it says whenever it is sent.
type meant struct {
	said
	meaning string
}

// of are the messages that become of one.
func (d *disorder) of(m said, meaning string) []said {
	before, known := d.last[m.topic]
	if d.last == nil {
		d.last, d.wrong = map[string]meant{}, map[string]bool{}
	}
	d.last[m.topic] = meant{m, meaning}
	if !d.on || !known || before.meaning == meaning {
		return []said{m}
	}
	d.wrong[m.topic], d.again = true, time.Now().Add(disorderTime)
	return []said{m, before.said}
}

// all are the messages that become of these.
func (d *disorder) all(news []said) (all []said) {
	for _, m := range news {
		all = append(all, d.of(m, m.payload)...)
	}
	return all
}

// earlier is when the right word follows if that comes before t.
func (d *disorder) earlier(t time.Time) time.Time {
	if !d.again.IsZero() && d.again.Before(t) {
		return d.again
	}
	return t
}

// over says, once, that the right word is to follow.
func (d *disorder) over() bool {
	if d.again.IsZero() || time.Now().Before(d.again) {
		return false
	}
	d.again = time.Time{}
	return true
}

// disorderVerbs begin and end it.
func disorderVerbs(change func(on bool)) []sim.Verb {
	return []sim.Verb{
		sim.Always("disorder", "its reports overtake each other", func() { change(true) }),
		sim.Always("order", "its reports come as they were sent", func() { change(false) }),
	}
}

// right are the last words where another was left.
func (d *disorder) right() (all []said) {
	d.again = time.Time{}
	for _, topic := range slices.Sorted(maps.Keys(d.wrong)) {
		all = append(all, d.last[topic].said)
	}
	clear(d.wrong)
	return all
}

// add puts more on the news of a gadget.
func (g *Gadget) add(more func() []said) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.news = append(g.news, more()...)
}
