package cloudpart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"roomgate/agent/cloudcommand"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// The bounds of the messages of one level that one key has signed, or that are unsigned.
const (
	maxWaiting = 8                  // messages without an answer
	maxSets    = 64                 // messages, also those of which only the ids are kept
	maxBytes   = 2 * cloud.MaxLarge // of all their parts
)

// collecting is one part that has just come.
type collecting struct {
	*Parts
	ctx context.Context
	e   cloud.Envelope
	head
	line, base, key string // in the store: all of the level, those that this one may end, the message
	set, next       set    // as it is stored, and with this part
	accepted        set    // the last that was, of those of base
}

// collect stores the part, and returns the message if no other part is missing.
func (c *collecting) collect() (whole *cloud.Envelope, err error) {
	if err := c.o.DB.View(c.read); err != nil {
		return nil, err
	}
	switch same := c.set.is(c.head); {
	case same && c.set.IDs[c.Part.Part-1] == c.e.ID:
		if c.set.Over || c.e.Retained && c.Part.Part != c.Of { // each connection brings all of them
			return nil, nil
		}
	case !same && c.e.Retained && c.Revision < c.accepted.Revision: // what the broker has left of an earlier one
		return nil, nil
	case !same && !c.accepted.Over && c.Revision < c.accepted.Revision:
		return nil, problem.New(problem.Conflict, "revision", "is %d, and %d was accepted: send a later one", c.Revision, c.accepted.Revision)
	default:
		if !c.wear.take(c.e.SignedBy, len(c.e.Data)) {
			return nil, problem.New(problem.Busy, "", "too many parts came of messages that were not accepted: send it again in an hour")
		}
		if c.o.Budget != nil {
			if refusal := c.o.Budget(c.e); refusal != nil {
				c.wear.take(c.e.SignedBy, -len(c.e.Data))
				return nil, refusal
			}
		}
		if err := c.o.Events.Update(c.ctx, c.store); err != nil {
			c.wear.take(c.e.SignedBy, -len(c.e.Data)) // nothing was written
			return nil, err
		}
		c.set = c.next
	}
	if slices.Contains(c.set.IDs, "") {
		return nil, nil
	}
	return c.join()
}

func (c *collecting) read(tx *store.Tx) (err error) {
	for key, s := range c.under(tx, c.base) {
		if key == c.key {
			c.set = s
		}
		if s.Accepted && s.Revision >= c.accepted.Revision {
			c.accepted = s
		}
	}
	return tx.Err()
}

// under lists the messages whose keys begin with prefix.
func (c *collecting) under(tx *store.Tx, prefix string) iter.Seq2[string, set] {
	return func(yield func(string, set) bool) {
		for key, s := range sets.From(tx, prefix) {
			if !strings.HasPrefix(key, prefix) || !yield(key, s) {
				return
			}
		}
	}
}

// store adds the part to its message. Parts of an earlier message under the same key
// are dropped and refused.
func (c *collecting) store(tx *store.Tx) error {
	next := c.set
	next.IDs = slices.Clone(next.IDs)
	if !next.is(c.head) || next.Over {
		if err := c.drop(tx, c.key, c.set, overtaken(c.Revision)); err != nil {
			return err
		}
		next = set{Revision: c.Revision, Kind: c.Kind, Of: c.Of, Whole: c.Whole, IDs: make([]string, c.Of), Sizes: make([]int, c.Of), Since: time.Now()}
	}
	i := c.Part.Part - 1
	if old := next.IDs[i]; old != "" {
		if err := c.refuse(tx, old, problem.New(problem.Conflict, "part", "came again as %s", c.e.ID)); err != nil {
			return err
		}
	}
	next.Sizes = slices.Clone(next.Sizes)
	next.IDs[i], next.Sizes[i] = c.e.ID, len(c.e.Data)
	if total := next.size(); total > cloud.MaxLarge {
		return problem.New(problem.Invalid, "of", "parts of %d bytes are too much: at most %d go", total, cloud.MaxLarge)
	}
	if err := c.evict(tx, next.size()); err != nil {
		return err
	}
	place := partKey(c.key, c.Part.Part)
	err := errors.Join(sets.Put(tx, c.key, next),
		parts.Put(tx, place, part{ID: c.e.ID, Source: c.e.Source, Time: c.e.Time, Sealed: c.o.Keys.Seal(place, c.e.Data)}),
		c.o.Commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT}, device.Receipt{CommandID: c.e.ID, State: device.Accepted, ReceivedAt: time.Now().UTC()}))
	c.next = next
	return err
}

// refuse answers a part that was accepted before, and is dropped now.
func (c *collecting) refuse(tx *store.Tx, id string, why *problem.Error) error {
	return c.o.Commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT}, device.RefusedReceipt(id, why))
}

// drop deletes a message with its parts. If it waits for more, why answers its parts.
func (c *collecting) drop(tx *store.Tx, key string, s set, why *problem.Error) (err error) {
	waits := s.open()
	for i, id := range s.IDs {
		if id == "" {
			continue
		}
		if waits {
			err = errors.Join(err, c.refuse(tx, id, why))
		}
		err = errors.Join(err, parts.Delete(tx, partKey(key, i+1)))
	}
	return errors.Join(err, sets.Delete(tx, key))
}

// evict drops the messages that came first, as long as all of them, with so many bytes
// of this one, are more than the bounds.
func (c *collecting) evict(tx *store.Tx, bytes int) error {
	var keys []string
	others, waiting := map[string]set{}, 1
	for key, s := range c.under(tx, c.line) {
		if key == c.key {
			continue
		}
		keys, others[key] = append(keys, key), s
		bytes += s.size()
		if s.open() {
			waiting++
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	slices.SortStableFunc(keys, func(a, b string) int { return others[a].Since.Compare(others[b].Since) })
	all, busy := len(keys)+1, problem.New(problem.Busy, "", "too many other messages wait for parts: send all parts of one before the next")
	for _, key := range keys {
		s := others[key]
		if bytes <= maxBytes && all <= maxSets && (waiting <= maxWaiting || !s.open()) {
			continue
		}
		if err := c.drop(tx, key, s, busy); err != nil {
			return err
		}
		bytes, all = bytes-s.size(), all-1
		if s.open() {
			waiting--
		}
	}
	return nil
}

// join makes the message of all its parts. It has the id of the first part, whichever
// came last.
func (c *collecting) join() (*cloud.Envelope, error) {
	whole, texts := c.e, make([]json.RawMessage, c.Of)
	err := c.o.DB.View(func(tx *store.Tx) error {
		for i := range texts {
			place := partKey(c.key, i+1)
			row, err := parts.Get(tx, place)
			if err == nil {
				texts[i], err = c.o.Keys.Open(place, row.Sealed)
			}
			if err != nil {
				return fmt.Errorf("read a part of a message: %w", err)
			}
			if i == 0 {
				whole.ID, whole.Source, whole.Time = row.ID, row.Source, row.Time
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	whole.Parts = c.set.IDs[1:]
	if whole.Data, err = cloud.Join(texts); err != nil {
		return nil, errors.Join(c.o.Events.Update(c.ctx, c.over), cloudcommand.RefuseMessage(c.ctx, c.o.Commands, whole, cloudcommand.AsError(err)))
	}
	return &whole, nil
}

// over deletes the parts of a message that was answered and keeps their ids: a part
// that comes again is not taken for the first of another message.
func (c *collecting) over(tx *store.Tx) (err error) {
	c.set.Over = true
	for i := range c.Of {
		err = errors.Join(err, parts.Delete(tx, partKey(c.key, i+1)))
	}
	return errors.Join(err, sets.Put(tx, c.key, c.set))
}

// settle notes how a whole message was answered. One that the broker keeps stays with its
// parts, since each connection brings it again. Only an accepted one ends others.
func (c *collecting) settle(accepted, kept bool) error {
	if kept && (accepted && c.set.Accepted || !accepted && c.set.Refused) {
		return nil
	}
	if accepted {
		c.wear.take(c.e.SignedBy, -c.set.size())
	}
	return c.o.Events.Update(c.ctx, func(tx *store.Tx) error {
		c.set.Accepted, c.set.Refused = accepted, !accepted
		err := sets.Put(tx, c.key, c.set)
		if !kept {
			err = c.over(tx)
		}
		if err != nil || !accepted {
			return err
		}
		ended := map[string]set{}
		for key, s := range c.under(tx, c.base) {
			if key != c.key && (!s.open() || s.Revision < c.Revision) {
				ended[key] = s
			}
		}
		err = tx.Err()
		for key, s := range ended {
			err = errors.Join(err, c.drop(tx, key, s, overtaken(c.Revision)))
		}
		return err
	})
}

// overtaken refuses the parts of a message that another one came before the end of.
func overtaken(by uint64) *problem.Error {
	return problem.New(problem.Conflict, "", "parts of revision %d came before all of this one: send it again with a later revision", by)
}
