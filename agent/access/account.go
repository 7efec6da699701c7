package access

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/store"
)

// maxAccounts bounds the rows about addresses that are no user's. Of more, those of
// the networks with most are forgotten.
const maxAccounts = 1000

// pair is an address and the network that asks for it. What one network asks for
// and tries concerns no other: its one-time passwords are its own.
type pair struct {
	account string // the address, which is a row of its own
	network string
	id      string // the row of both
}

func (d *Directory) pair(address string, from netip.Prefix) pair {
	network := from.String() // no address has a space
	return pair{d.keys.Account(address), d.keys.Account(" " + network)[:16], d.keys.Account(address + " " + network)}
}

// standing is how a pair and its address stand.
type standing struct{ pair, whole auth.Account }

func readStanding(tx *store.Tx, p pair) (s standing, err error) {
	s.pair, err = accounts.Get(tx, p.id)
	if errors.Is(err, store.ErrNotFound) {
		s.pair, err = auth.Account{Of: p.account, From: p.network}, nil
	}
	if err != nil {
		return s, err
	}
	s.whole, err = accounts.Get(tx, p.account)
	if errors.Is(err, store.ErrNotFound) {
		s.whole, err = auth.Account{From: p.network}, nil
	}
	return s, err
}

// proven says whether the owner of the address has signed in from the network.
func (s *standing) proven(p pair) bool { return slices.Contains(s.whole.Proven, p.network) }

// issue takes a new one-time password for a pair, if both the pair and, unless the
// network is proven, its address have one left.
func (s *standing) issue(p pair, hash []byte, now auth.Moment) (wait time.Duration, ok bool) {
	if wait, ok = s.pair.Issue(hash, now); !ok || s.proven(p) {
		return wait, ok
	}
	return s.whole.Codes.Take(auth.StrangeRate, now)
}

func (s *standing) write(tx *store.Tx, p pair) error {
	return errors.Join(accounts.Put(tx, p.id, s.pair), accounts.Put(tx, p.account, s.whole))
}

// errNetwork refuses a network from which too much has come.
func errNetwork(wait time.Duration) error {
	return problem.TooOften("too many one-time passwords were asked for from this network address", wait)
}

// stranger is a row about an address that is no user's.
type stranger struct {
	id   string
	age  time.Duration
	rank int // among those of its network, the youngest first
}

// evict forgets, when there are many rows, those that are as if they had never
// been seen, and of strangers' the oldest of the networks with most. Those of users
// stay. Of rows whose age cannot be told it counts from now.
func (d *Directory) evict(tx *store.Tx, now auth.Moment) (err error) {
	if accounts.Len(tx) < maxAccounts {
		return nil
	}
	users := d.userAccounts()
	strangers, anchored := map[string][]stranger{}, map[string]auth.Account{}
	var gone []string
	total := 0
	for id, c := range accounts.All(tx) {
		known := users[id] || users[c.Of]
		switch idle := c.Idle(now); {
		case idle && (!known || len(c.Proven) == 0):
			gone = append(gone, id)
			continue
		case !idle && c.Anchor(now):
			anchored[id] = c
		}
		if !known {
			age, _ := now.Since(c.Codes.At)
			strangers[c.From] = append(strangers[c.From], stranger{id: id, age: age})
			total++
		}
	}
	if total >= maxAccounts {
		gone = append(gone, surplus(strangers)...)
	}
	for _, id := range gone {
		delete(anchored, id)
		err = errors.Join(err, accounts.Delete(tx, id))
	}
	for id, c := range anchored {
		err = errors.Join(err, accounts.Put(tx, id, c))
	}
	return err
}

// surplus is the eighth of the strangers' rows that go: of each network as many as
// leave all with equal shares, the oldest first.
func surplus(strangers map[string][]stranger) (ids []string) {
	var all []stranger
	for _, of := range strangers {
		slices.SortFunc(of, func(a, b stranger) int { return cmp.Compare(a.age, b.age) })
		for rank := range of {
			of[rank].rank = rank
		}
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b stranger) int { return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.age, a.age)) })
	for _, s := range all[:maxAccounts/8] {
		ids = append(ids, s.id)
	}
	return ids
}

// userAccounts are the rows of those who may sign in.
func (d *Directory) userAccounts() map[string]bool {
	ids := map[string]bool{}
	for address := range d.users.Load().byEmail {
		ids[d.keys.Account(address)] = true
	}
	return ids
}
