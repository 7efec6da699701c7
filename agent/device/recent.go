package device

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"roomgate/agent/device/refusal"
	"roomgate/store"
)

// A command is stored when it is accepted and again with its outcome, and each write of a row in a long table costs the card three pages of 4 KiB. So the
// last ones that are over are in a table of one page, and go from there together to where ids are remembered for long. Those under way are in another: it has
// less than 1 KiB mostly, which bbolt puts into the page of all tables, and that is written with each change anyway.

const (
	// maxOver is how many bytes of commands that are over the table holds, mostly: what fits into a page.
	maxOver = 3800
	// keepOver is how many of them stay at most: bbolt puts a table of less than 1 KiB
	// into the page of all tables, which then grows over and is written with each change.
	keepOver                     = 1440
	commandWeight, refusalWeight = 480, 240 // see weigh
)

var (
	// underWay holds the accepted commands without a final receipt, by id.
	underWay = store.NewTable[recent]("commands-under-way")
	// recents holds the last that are over, with recentOver or recentRefused before their ids. An earlier version had those under way there too, with recentOpen.
	recents = store.NewTable[recent]("recent-commands")
)

const (
	recentOpen    = "open/"
	recentOver    = "over/"
	recentRefused = "refused/" // after these: an earlier version reads no further
)

// recent is a command that has no age yet.
type recent struct {
	Stored
	From origin `json:"from,omitempty"`
	// Refused is what is stored instead of a command that was never accepted.
	Refused *refusal.Row `json:"refused,omitempty"`
}

// find returns a command that is remembered.
func find(tx *store.Tx, id string) (Stored, error) {
	r, err := recents.Get(tx, recentOver+id)
	if errors.Is(err, store.ErrNotFound) {
		r, err = recents.Get(tx, recentRefused+id)
	}
	if errors.Is(err, store.ErrNotFound) {
		r, err = underWay.Get(tx, id)
	}
	if errors.Is(err, store.ErrNotFound) {
		return commands.Get(tx, id)
	}
	return r.whole().Stored, err
}

// recentOf returns the commands of that kind.
func recentOf(tx *store.Tx, kind string) (all []recent) {
	for key, r := range recents.From(tx, kind) {
		if !strings.HasPrefix(key, kind) {
			break
		}
		all = append(all, r)
	}
	return all
}

// countRecent counts the commands of an origin that have no age yet.
func countRecent(tx *store.Tx, from origin) (n int) {
	for _, table := range []store.Table[recent]{underWay, recents} {
		for _, r := range table.All(tx) {
			if r.From == from {
				n++
			}
		}
	}
	return n
}

// weigh is what rows take of a page, in bytes, mostly.
func weigh(all []recent) (sum int) {
	for _, r := range all {
		if sum += commandWeight; r.Refused != nil {
			sum += refusalWeight - commandWeight
		}
	}
	return sum
}

// putOver stores a command that is over, and now and then moves older ones.
func putOver(tx *store.Tx, ids *refusal.IDs, r recent) error {
	if err := recents.Put(tx, r.key(), r); err != nil {
		return err
	}
	if all := allOver(tx); weigh(all) >= maxOver {
		return age(tx, all, keepOver, ids)
	}
	return nil
}

// key is where a command that is over is.
func (r recent) key() string {
	if r.Refused != nil {
		return recentRefused + r.Refused.ID
	}
	return recentOver + r.Command.ID
}

// allOver returns what is over and has no age yet.
func allOver(tx *store.Tx) []recent {
	return append(recentOf(tx, recentOver), recentOf(tx, recentRefused)...)
}

// age moves commands that are over, but for the youngest of the weight to keep, to where their ids are remembered for long. While there is no room for an age, its command stays.
func age(tx *store.Tx, all []recent, keep int, ids *refusal.IDs) error {
	slices.SortStableFunc(all, func(a, b recent) int {
		a, b = a.whole(), b.whole()
		return cmp.Or(cmp.Compare(a.Lived, b.Lived), a.Receipt.FinishedAt.Compare(b.Receipt.FinishedAt))
	})
	for i, r := range all {
		if keep > 0 && weigh(all[i:]) <= keep {
			return nil
		}
		moved, err := r.age(tx, ids)
		if err == nil && moved {
			err = recents.Delete(tx, r.key())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// age stores one command for long, a refusal among those of this process if there are such; stored is false while there is no room for its age.
func (r recent) age(tx *store.Tx, ids *refusal.IDs) (stored bool, err error) {
	if r.Refused != nil && ids != nil {
		return ids.Put(tx, *r.Refused, commandMemory)
	}
	r = r.whole()
	_, err = commandAges[r.From].Push(tx, r.Command.ID)
	if errors.Is(err, store.ErrQueueFull) {
		return false, nil
	}
	if err == nil {
		err = commands.Put(tx, r.Command.ID, r.Stored)
	}
	return true, err
}

// settleOver moves all that is over to where an earlier version looks.
func settleOver(tx *store.Tx) error {
	return errors.Join(age(tx, allOver(tx), 0, nil), refusal.Move(tx, func(row refusal.Row) (bool, error) {
		return recent{From: fromCloud, Refused: &row}.age(tx, nil)
	}))
}

// moveOpen moves the commands that an earlier version has left under way.
func moveOpen(tx *store.Tx) error {
	for _, r := range recentOf(tx, recentOpen) {
		if err := errors.Join(underWay.Put(tx, r.Command.ID, r), recents.Delete(tx, recentOpen+r.Command.ID)); err != nil {
			return err
		}
	}
	return nil
}

// Settle stores all commands where earlier versions look for them, so that one
// of those may follow. It is for the end of a building.
func (cs *Commands) Settle(ctx context.Context) error {
	return cs.o.DB.Update(ctx, func(tx *store.Tx) error {
		if err := settleOver(tx); err != nil {
			return err
		}
		for id, r := range underWay.All(tx) {
			moved, err := r.age(tx, nil)
			if err == nil && moved {
				err = errors.Join(openCommands.Put(tx, id, true), underWay.Delete(tx, id))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// UnderWay says whether a command that was accepted, for that part of a device, has no outcome yet.
func UnderWay(tx *store.Tx, c Command) bool {
	for _, r := range underWay.All(tx) {
		if r.Command.Space == c.Space && r.Command.DeviceType == c.DeviceType && r.Command.SubDevice == c.SubDevice {
			return true
		}
	}
	return tx.Err() != nil
}

// Any says whether any command is remembered.
func Any(tx *store.Tx) bool {
	for range commands.All(tx) {
		return true
	}
	return underWay.Len(tx)+recents.Len(tx) > 0 || tx.Err() != nil
}

// Unsure says whether the process before this one had commands that its disk did not take.
func (b *Commands) Unsure() bool { return b.unsure }
