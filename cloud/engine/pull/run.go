package pull

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"roomgate/cloud"
)

// deliver hands a message on, as a backend.Source does.
type deliver = func(ctx context.Context, m cloud.Message, taken func())

// Run takes part in the partitions until ctx ends.
func (s *Source) Run(ctx context.Context, hand deliver, left func(gateway string)) error {
	run := &running{Source: s, hand: hand, left: left, has: map[int]*partition{}, seen: observer{}, told: time.Now()}
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	for {
		run.beat(ctx)
		select {
		case <-ctx.Done():
			run.leave(context.WithoutCancel(ctx))
			return nil
		case <-t.C:
		}
	}
}

// running is a backend among those that share the fleet.
type running struct {
	*Source
	hand deliver
	left func(gateway string)
	has  map[int]*partition
	seen observer
	told time.Time // when the others last heard of it
}

// beat says what the backend has, and takes or gives up partitions.
func (r *running) beat(ctx context.Context) {
	began := time.Now()
	err := r.share(ctx)
	if err == nil {
		r.told = began
		return
	}
	if ctx.Err() != nil {
		return
	}
	r.o.Log.Warn("the partitions cannot be shared out, trying again", "reason", err)
	if time.Since(r.told) >= stopAfter {
		for _, p := range r.has {
			p.stop()
		}
	}
}

// share changes the table of all in one step, or not at all if another one was faster.
func (r *running) share(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		table, revision, err := r.table(ctx)
		if err != nil {
			return err
		}
		r.seen.see(table, time.Now())
		mine, more := table.take(r.o.Name, r.ending(), r.partitions)
		err = r.write(ctx, table, revision)
		if faster(err) {
			wait(ctx, 20*time.Millisecond) // another one was faster
			continue
		}
		if err == nil {
			r.begin(ctx, mine, more)
		}
		return err
	}
}

// sharesKey is the one key of the bucket.
const sharesKey = "shares"

func (r *running) table(ctx context.Context) (table shares, revision uint64, err error) {
	table = shares{}
	e, err := r.shares.Get(ctx, sharesKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return table, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return table, e.Revision(), json.Unmarshal(e.Value(), &table)
}

func (r *running) write(ctx context.Context, table shares, revision uint64) error {
	raw, err := json.Marshal(table)
	if err != nil {
		return err
	}
	if revision == 0 {
		_, err = r.shares.Create(ctx, sharesKey, raw)
	} else {
		_, err = r.shares.Update(ctx, sharesKey, raw, revision)
	}
	return err
}

// ending are the partitions that are still worked on; those that have ended are left.
func (r *running) ending() (has []int) {
	for n, p := range r.has {
		select {
		case <-p.ended:
			delete(r.has, n)
		default:
			has = append(has, n)
		}
	}
	return has
}

// begin works on what is new, and ends what is too much.
func (r *running) begin(ctx context.Context, mine, more []int) {
	for _, n := range mine {
		if r.has[n] == nil {
			r.has[n] = r.open(context.WithoutCancel(ctx), n)
		}
	}
	for _, n := range more {
		r.has[n].stop()
	}
	for n, p := range r.has {
		if !contains(mine, n) { // somebody else has it
			p.stop()
		}
	}
}

// faster says that another backend has written the table meanwhile.
func faster(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// leave gives everything up.
func (r *running) leave(ctx context.Context) {
	for _, p := range r.has {
		p.abandon()
		<-p.ended
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		table, revision, err := r.table(ctx)
		if err == nil {
			delete(table, r.o.Name)
			err = r.write(ctx, table, revision)
		}
		if faster(err) {
			wait(ctx, 20*time.Millisecond)
			continue
		}
		if err != nil {
			r.o.Log.Warn("the others do not know that this backend ends, and take over what it had in a while", "reason", err)
		}
		return
	}
}
