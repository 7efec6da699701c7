package device

import (
	"sync"

	"roomgate/agent/loop"
	"roomgate/agent/problem"
)

const (
	// laneOfOne is how many commands of one who gives them may wait for one device.
	laneOfOne = 16
	// laneOfAll is how many of the network may, and as many of the cloud. Neither keeps out
	// the other, the keypad or the building itself.
	laneOfAll = 64
)

// giver is who gives a command, by which door.
type giver struct{ via, by string }

// giver tells those of the cloud apart by the key of the signature alone: a broker may
// write any name.
func (c *Command) giver() giver {
	if c.Via != ViaMQTT {
		return giver{c.Via, c.By}
	}
	if c.Count != nil {
		return giver{c.Via, c.Count.Key}
	}
	return giver{via: c.Via}
}

// lane holds the accepted commands of a device. Who gives commands takes turns with the
// others: whoever gives them without a pause delays his own.
type lane struct {
	woken loop.Signal // something may wait

	mu      sync.Mutex
	places  map[giver]int // taken, also by what is being stored
	waiting map[giver][]*Pending
	order   []giver // who has something waiting, the next first
}

func newLane() *lane {
	return &lane{woken: loop.NewSignal(), places: map[giver]int{}, waiting: map[giver][]*Pending{}}
}

// enter takes a place for a command, or refuses it.
func (l *lane) enter(of giver) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.places[of]; own >= laneOfOne {
		return problem.New(problem.Unavailable, "", "%d of your commands wait for this device already: try again later", own)
	}
	if all := l.placesOf(of.via); all >= laneOfAll && (of.via == ViaHTTP || of.via == ViaMQTT) {
		return problem.New(problem.Unavailable, "", "%d commands wait for this device already: try again later", all)
	}
	l.places[of]++
	return nil
}

// placesOf counts the places that are taken by one door.
func (l *lane) placesOf(via string) (n int) {
	for of, own := range l.places {
		if of.via == via {
			n += own
		}
	}
	return n
}

// leave gives a place back.
func (l *lane) leave(of giver) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free(of)
}

func (l *lane) free(of giver) {
	if l.places[of]--; l.places[of] == 0 {
		delete(l.places, of)
	}
}

// put lets a command that has a place wait.
func (l *lane) put(p *Pending) {
	l.mu.Lock()
	of := p.command.giver()
	if len(l.waiting[of]) == 0 {
		l.order = append(l.order, of)
	}
	l.waiting[of] = append(l.waiting[of], p)
	l.mu.Unlock()
	l.woken.Wake()
}

// take returns the next command with its place, which is free then; nil: nothing waits.
func (l *lane) take() *Pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.order) == 0 {
		return nil
	}
	of := l.order[0]
	own := l.waiting[of]
	l.order = l.order[1:]
	if l.waiting[of] = own[1:]; len(own) > 1 {
		l.order = append(l.order, of)
	} else {
		delete(l.waiting, of)
	}
	l.free(of)
	if len(l.order) > 0 {
		l.woken.Wake()
	}
	return own[0]
}
