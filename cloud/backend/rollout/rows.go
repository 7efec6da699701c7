package rollout

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// ErrNotFound is returned for a rollout that there is not.
var ErrNotFound = errors.New("there is no such rollout")

// The buckets in the ledger's file. What belongs to a rollout begins with its id.
var (
	heads    = []byte("roomgate.rollouts")         // by id: Rollout
	contents = []byte("roomgate.rollout.contents") // by id: the configuration
	steps    = []byte("roomgate.rollout.steps")    // id, gateway: Step
	queue    = []byte("roomgate.rollout.queue")    // id, number: the gateway that waits there
	unsent   = []byte("roomgate.rollout.unsent")   // id, gateway: nothing; those that are to be sent it
	pending  = []byte("roomgate.rollout.pending")  // id, deadline, gateway: nothing; those without an answer
	active   = []byte("roomgate.rollout.active")   // gateway: the id of the rollout that it is in
)

// rows are the rollouts in a transaction.
type rows struct{ tx *bbolt.Tx }

func makeBuckets(tx *bbolt.Tx) (err error) {
	for _, name := range [][]byte{heads, contents, steps, queue, unsent, pending, active} {
		if _, e := tx.CreateBucketIfNotExists(name); e != nil {
			err = errors.Join(err, e)
		}
	}
	return err
}

func (r rows) get(bucket []byte, key string, v any) error {
	raw := r.tx.Bucket(bucket).Get([]byte(key))
	if raw == nil {
		return ErrNotFound
	}
	return json.Unmarshal(raw, v)
}

func (r rows) put(bucket []byte, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.tx.Bucket(bucket).Put([]byte(key), raw)
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
	err = r.tx.Bucket(heads).ForEach(func(_, raw []byte) error {
		var h Rollout
		err := json.Unmarshal(raw, &h)
		all = append(all, h)
		return err
	})
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

// first are at most n entries of a bucket whose keys begin with those of a rollout.
func (r rows) first(bucket []byte, id string, n int) (keys, values []string) {
	prefix := id + "/"
	c := r.tx.Bucket(bucket).Cursor()
	for k, v := c.Seek([]byte(prefix)); len(keys) < n && len(k) > len(prefix) && string(k[:len(prefix)]) == prefix; k, v = c.Next() {
		keys, values = append(keys, string(k)), append(values, string(v))
	}
	return keys, values
}

// move brings a step of a rollout into another state; the caller puts the rollout.
func (r rows) move(h *Rollout, s Step, to, why string, now time.Time) error {
	from := s.State
	s.State, s.Why = to, why
	waited := pendingKey(h.ID, s.At.Add(h.Plan.timeout()), s.Gateway)
	sending := r.tx.Bucket(unsent)
	err := sending.Delete([]byte(stepKey(h.ID, s.Gateway)))
	switch to {
	case stepSending:
		err = sending.Put([]byte(stepKey(h.ID, s.Gateway)), nil)
		if from != stepWaiting { // it is sent it again, and has no more time for it
			break
		}
		s.At = now
		err = errors.Join(err, r.tx.Bucket(pending).Put(pendingKey(h.ID, now.Add(h.Plan.timeout()), s.Gateway), nil), r.tx.Bucket(active).Put([]byte(s.Gateway), []byte(h.ID)))
	case stepSent:
	case stepLate: // it may still answer
		s.Ended = now
		err = errors.Join(err, r.tx.Bucket(pending).Delete(waited))
	default:
		s.Ended = now
		err = errors.Join(err, r.tx.Bucket(pending).Delete(waited), r.leave(h.ID, s.Gateway))
	}
	h.moved(from, to)
	return errors.Join(err, r.put(steps, stepKey(h.ID, s.Gateway), s))
}

// leave lets a gateway be in no rollout any more, if it is in that one.
func (r rows) leave(id, gateway string) error {
	b := r.tx.Bucket(active)
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
	for _, bucket := range [][]byte{steps, queue, unsent, pending} {
		keys, _ := r.first(bucket, id, 1<<30)
		for _, key := range keys {
			err = errors.Join(err, r.tx.Bucket(bucket).Delete([]byte(key)))
		}
	}
	return errors.Join(err, r.tx.Bucket(heads).Delete([]byte(id)), r.tx.Bucket(contents).Delete([]byte(id)))
}
