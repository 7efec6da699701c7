package broker

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	refusedFor  = time.Hour // since the last wrong password
	mostRefused = 64        // users at addresses
)

// Refused is a user with a wrong password at an address, who has not come in there since.
type Refused struct {
	User    string    `json:"user"`
	Address string    `json:"address"`
	Times   int       `json:"times"`
	Last    time.Time `json:"last"`
	// In says that the right password has come from some address.
	In bool `json:"in"`
}

// refusals remember who was refused for his password. Names that are nobody's are not kept.
type refusals struct {
	mu  sync.Mutex
	all map[userAt]Refused
}

// note counts a wrong password, in the place of the oldest one if there are too many.
func (r *refusals) note(l userAt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[userAt]Refused{}
	}
	one, known := r.all[l]
	if !known && len(r.all) >= mostRefused {
		var oldest userAt
		for other, o := range r.all {
			if last := r.all[oldest].Last; last.IsZero() || o.Last.Before(last) {
				oldest = other
			}
		}
		delete(r.all, oldest)
	}
	if time.Since(one.Last) > refusedFor {
		one.Times = 0
	}
	r.all[l] = Refused{User: l.user, Address: place(l.from), Times: one.Times + 1, Last: time.Now()}
}

// forget is for who has come in.
func (r *refusals) forget(l userAt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, l)
}

// place is an address for people.
func place(from netip.Addr) string {
	if !from.IsValid() || from.IsLoopback() {
		return "this machine"
	}
	return from.Unmap().String()
}

// Refused lists whose password was wrong within the last hour.
func (b *Broker) Refused() (all []Refused) {
	b.refusals.mu.Lock()
	for _, one := range b.refusals.all {
		if time.Since(one.Last) <= refusedFor {
			all = append(all, one)
		}
	}
	b.refusals.mu.Unlock()
	for i := range all {
		all[i].In = b.guesses.letIn(all[i].User)
	}
	slices.SortFunc(all, func(a, b Refused) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Address, b.Address))
	})
	return all
}

// called is a user of a CONNECT for the log. A name that is nobody's is not repeated, as a password is
// easily typed in its place.
func (b *Broker) called(name string) string {
	switch _, known := b.users.find(name); {
	case name == "":
		return "nobody"
	case known:
		return printable(name)
	}
	return "an unknown user"
}
