package guest

import (
	"net/netip"
	"sync"
)

// Places are a bounded number of places, as of connections. A newcomer is a
// stranger until he has shown who he is. When places run out a stranger makes
// room, of the network that holds most; those who are known hold all places but
// the Reserve, and share them fairly among themselves: who is idle goes first,
// then whoever holds most. It may be used by many, and is made of its first
// three fields.
type Places struct {
	Most    int // at least 1
	Reserve int // kept for strangers: who is known holds at most Most-Reserve
	Each    int // that strangers of one network hold at most; of its address with most the oldest makes room for the next; 0: any number

	mu      sync.Mutex
	all     map[*Place]struct{}
	known   int
	clients map[client]int
	groups  map[client]int
	strange map[netip.Prefix]int // strangers
	entered uint64
}

// client is somebody at one network, or a part of who, or a stranger at an address of a network; a group is all of
// who, or of a network whose guests are strangers.
type client struct {
	who  string
	from netip.Prefix
	part string
}

func (c client) group() client {
	if c.who != "" {
		c.from = netip.Prefix{}
	}
	c.part = ""
	return c
}

// Place is one place that somebody holds.
type Place struct {
	of     *Places
	client client
	out    func()
	known  bool
	idle   bool
	since  uint64 // orders those who are idle, or else those who came
	left   bool
}

// Enter gives a newcomer at an address a place, or returns nil. out is called
// once, from another goroutine, if the place is needed for somebody else: then it
// is lost already. It must not wait. Local guests have the zero Addr, of which
// any number may come.
func (p *Places) Enter(at netip.Addr, out func()) *Place {
	from := Network(at)
	p.mu.Lock()
	defer p.mu.Unlock()
	pl := &Place{of: p, client: client{from: from}, out: out, idle: true}
	if from.IsValid() {
		pl.client.part = at.Unmap().String()
	}
	if p.Each > 0 && from.IsValid() && p.strange[from] >= p.Each {
		p.displace(p.greediest(pl)) // a /64 may be a whole LAN: to refuse him would let one host keep all others out
	}
	if len(p.all) >= p.Most && !p.displace(p.victim(pl, false)) {
		return nil
	}
	p.add(pl)
	return pl
}

// EnterKnown is Enter for somebody of whom it is known who he is, as by a
// credential. He is not idle.
func (p *Places) EnterKnown(who string, from netip.Prefix, out func()) *Place {
	return p.enter(client{who: who, from: from}, out)
}

// EnterPart is EnterKnown for one of the parts of who, as for a credential of an
// organization: within who they share by part, no matter at which networks they are.
func (p *Places) EnterPart(who, part string, out func()) *Place {
	return p.enter(client{who: who, part: part}, out)
}

func (p *Places) enter(c client, out func()) *Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	pl := &Place{of: p, client: c, out: out, known: true}
	switch {
	case p.known >= p.Most-p.Reserve:
		if !p.displace(p.victim(pl, true)) {
			return nil
		}
	case len(p.all) >= p.Most:
		p.displace(p.victim(pl, false)) // there is a stranger, or there would be room
	}
	p.add(pl)
	return pl
}

// Know notes that the holder has shown who he is; with an empty who he counts by
// his network as before. It is false, and the place is still a stranger's, if
// those who are known hold too many and he is none of those who hold least.
func (pl *Place) Know(who string) bool {
	p := pl.of
	p.mu.Lock()
	defer p.mu.Unlock()
	if pl.left || pl.known {
		return pl.known
	}
	as := &Place{client: client{who: who, from: pl.client.from}, known: true}
	if p.known >= p.Most-p.Reserve && !p.displace(p.victim(as, true)) {
		return false
	}
	p.remove(pl)
	pl.client, pl.known, pl.idle, pl.left = as.client, true, false, false
	p.add(pl)
	return true
}

// Idle says whether a holder who is known needs his place just now.
func (pl *Place) Idle(idle bool) {
	pl.of.mu.Lock()
	defer pl.of.mu.Unlock()
	if pl.known && pl.idle != idle {
		pl.of.entered++
		pl.idle, pl.since = idle, pl.of.entered
	}
}

// Leave gives the place back. One that is lost stays so.
func (pl *Place) Leave() {
	pl.of.mu.Lock()
	defer pl.of.mu.Unlock()
	pl.of.remove(pl)
}

func (p *Places) add(pl *Place) {
	if p.all == nil {
		p.all, p.clients, p.groups, p.strange = map[*Place]struct{}{}, map[client]int{}, map[client]int{}, map[netip.Prefix]int{}
	}
	p.entered++
	pl.since = p.entered
	p.all[pl] = struct{}{}
	p.count(pl, 1)
}

func (p *Places) remove(pl *Place) {
	if pl.left {
		return
	}
	pl.left = true
	delete(p.all, pl)
	p.count(pl, -1)
}

func (p *Places) count(pl *Place, n int) {
	if pl.known {
		p.known += n
	} else {
		change(p.strange, pl.client.from, n)
	}
	change(p.clients, pl.client, n)
	change(p.groups, pl.client.group(), n)
}

func change[K comparable](m map[K]int, key K, n int) {
	if m[key] += n; m[key] <= 0 {
		delete(m, key)
	}
}

func (p *Places) displace(victim *Place) bool {
	if victim == nil {
		return false
	}
	p.remove(victim)
	go victim.out()
	return true
}

// greediest is the stranger of the newcomer's network who makes room for him: of the address that would hold most then,
// the one who came first.
func (p *Places) greediest(newcomer *Place) (found *Place) {
	holds := func(pl *Place) int {
		if pl.client == newcomer.client {
			return p.clients[pl.client] + 1
		}
		return p.clients[pl.client]
	}
	for pl := range p.all {
		if pl.known || pl.client.from != newcomer.client.from {
			continue
		}
		if found == nil || holds(pl) > holds(found) || holds(pl) == holds(found) && pl.since < found.since {
			found = pl
		}
	}
	return found
}

// victim finds who makes room for a newcomer, among those who are known or among
// strangers; nil: nobody, as none of them holds more than he would.
func (p *Places) victim(newcomer *Place, known bool) (found *Place) {
	for pl := range p.all {
		if pl.known == known && p.yields(pl, newcomer) && (found == nil || p.before(pl, found)) {
			found = pl
		}
	}
	return found
}

// yields says whether a holder makes room for a newcomer. A stranger does for who is
// known. Who is idle does unless the newcomer holds as many; else only who still
// holds more afterwards. Within one group the networks, or the parts, are compared.
func (p *Places) yields(pl, newcomer *Place) bool {
	if newcomer.known && !pl.known {
		return true
	}
	theirs, his := p.groups[pl.client.group()], p.groups[newcomer.client.group()]
	if pl.client.group() == newcomer.client.group() {
		theirs, his = p.clients[pl.client], p.clients[newcomer.client]
	}
	if pl.idle {
		return theirs > his || pl.client == newcomer.client
	}
	return theirs > his+1
}

// before says whether a goes rather than b.
func (p *Places) before(a, b *Place) bool {
	if a.idle != b.idle {
		return a.idle
	}
	if n, m := p.groups[a.client.group()], p.groups[b.client.group()]; n != m {
		return n > m
	}
	if n, m := p.clients[a.client], p.clients[b.client]; n != m {
		return n > m
	}
	return a.since < b.since
}
