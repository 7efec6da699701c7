package rollout

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"roomgate/cloud/backend"
)

// ErrNotFound is returned for a rollout that there is not.
var ErrNotFound = errors.New("there is no such rollout")

// The tables beside the ledger. What belongs to a rollout begins with its id.
const (
	heads    = "roomgate.rollouts"         // by id: Rollout
	contents = "roomgate.rollout.contents" // by id: the configuration
	steps    = "roomgate.rollout.steps"    // id, gateway: Step
	queue    = "roomgate.rollout.queue"    // id, number: the gateway that waits there
	unsent   = "roomgate.rollout.unsent"   // id, gateway: nothing; those that are to be sent it
	pending  = "roomgate.rollout.pending"  // id, deadline, gateway: nothing; those without an answer
	active   = "roomgate.rollout.active"   // gateway: the id of the rollout that it is in
)

// rows are the rollouts in a transaction.
type rows struct{ tx backend.Tables }

func (r rows) get(table string, key string, v any) error {
	raw := r.tx.Table(table).Get([]byte(key))
	if raw == nil {
		return ErrNotFound
	}
	return json.Unmarshal(raw, v)
}

func (r rows) put(table string, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.tx.Table(table).Put([]byte(key), raw)
}

// head is a rollout by its id.
func (r rows) head(id string) (h Rollout, err error) {
	if err := r.get(heads, id, &h); err != nil {
		return h, fmt.Errorf("rollout %s: %w", id, err)
	}
	return h, nil
}

// all are the rollouts, the oldest first.
func (r rows) all() (all []Rollout, err error) {
	for _, raw := range r.tx.Table(heads).From(nil) {
		var h Rollout
		err = errors.Join(err, json.Unmarshal(raw, &h))
		all = append(all, h)
	}
	return all, err
}

func stepKey(id, gateway string) string { return id + "/" + gateway }

// queueKey orders the gateways of a rollout as they were given.
func queueKey(id string, number int) []byte {
	return binary.BigEndian.AppendUint64([]byte(id+"/"), uint64(number))
}

// pendingKey orders those without an answer by when their time is over.
func pendingKey(id string, deadline time.Time, gateway string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte(id+"/"), uint64(deadline.UnixNano())), gateway...)
}

// first are at most n entries of a table whose keys begin with those of a rollout.
func (r rows) first(table string, id string, n int) (keys, values []string) {
	prefix := id + "/"
	for k, v := range backend.Within(r.tx.Table(table), []byte(prefix)) {
		if len(keys) == n {
			break
		}
		keys, values = append(keys, string(k)), append(values, string(v))
	}
	return keys, values
}

// move brings a step of a rollout into another state; the caller puts the rollout.
func (r rows) move(h *Rollout, s Step, to, why string, now time.Time) error {
	from := s.State
	s.State, s.Why = to, why
	waited := pendingKey(h.ID, s.At.Add(h.Plan.timeout()), s.Gateway)
	sending := r.tx.Table(unsent)
	err := sending.Delete([]byte(stepKey(h.ID, s.Gateway)))
	switch to {
	case stepSending:
		err = sending.Put([]byte(stepKey(h.ID, s.Gateway)), nil)
		if from != stepWaiting { // it is sent it again, and has no more time for it
			break
		}
		s.At = now
		err = errors.Join(err, r.tx.Table(pending).Put(pendingKey(h.ID, now.Add(h.Plan.timeout()), s.Gateway), nil), r.tx.Table(active).Put([]byte(s.Gateway), []byte(h.ID)))
	case stepSent:
	case stepLate: // it may still answer
		s.Ended = now
		err = errors.Join(err, r.tx.Table(pending).Delete(waited))
	default:
		s.Ended = now
		err = errors.Join(err, r.tx.Table(pending).Delete(waited), r.leave(h.ID, s.Gateway))
	}
	h.moved(from, to)
	return errors.Join(err, r.put(steps, stepKey(h.ID, s.Gateway), s))
}

// leave lets a gateway be in no rollout any more, if it is in that one.
func (r rows) leave(id, gateway string) error {
	b := r.tx.Table(active)
	if string(b.Get([]byte(gateway))) != id {
		return nil
	}
	return b.Delete([]byte(gateway))
}

// deadline is the time in a pendingKey.
func deadline(id, key string) time.Time {
	return time.Unix(0, int64(binary.BigEndian.Uint64([]byte(key)[len(id)+1:])))
}

// mostKept is how many rollouts are kept, with those that are over.
const mostKept = 200

// ErrTooMany says that no other rollout can begin.
var ErrTooMany = fmt.Errorf("%d rollouts are not over: abort one first", mostKept)

// forget makes room for another rollout: the oldest that is over goes.
func (r rows) forget() error {
	all, err := r.all()
	if err != nil || len(all) < mostKept {
		return err
	}
	for _, h := range all {
		if h.over() {
			return r.drop(h.ID)
		}
	}
	return ErrTooMany
}

// drop forgets a rollout.
func (r rows) drop(id string) error {
	all, err := r.steps(id)
	for _, s := range all {
		err = errors.Join(err, r.leave(id, s.Gateway))
	}
	for _, table := range []string{steps, queue, unsent, pending} {
		keys, _ := r.first(table, id, 1<<30)
		for _, key := range keys {
			err = errors.Join(err, r.tx.Table(table).Delete([]byte(key)))
		}
	}
	return errors.Join(err, r.tx.Table(heads).Delete([]byte(id)), r.tx.Table(contents).Delete([]byte(id)))
}
