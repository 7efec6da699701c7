package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
	"roomgate/cloud/backend"
)

// mend is how long the backend hears at least before a gateway is late: what it said
// meanwhile has to come first.
const mend = time.Minute

// look does what is due of every rollout.
func (r *Rollouts) look(ctx context.Context) error {
	began := time.Now()
	if err := r.o.Backend.Settle(ctx); err != nil {
		return err
	}
	now := time.Now()
	if r.hears.IsZero() || now.Sub(began) > time.Second {
		r.hears = now
	}
	all, err := r.List()
	if err != nil {
		return err
	}
	for _, h := range all {
		if h.Counts.Waiting+h.Counts.Sent > 0 {
			err = errors.Join(err, r.advance(ctx, h.ID))
		}
	}
	return err
}

// advance ends the wait for those who are late, and sends a rollout to those who are next.
func (r *Rollouts) advance(ctx context.Context, id string) error {
	var next []Step
	var config backend.Configuration
	now := time.Now().UTC()
	step := func(tx backend.Tables) error {
		rows := rows{tx}
		h, err := rows.head(id)
		if err != nil {
			return err
		}
		if now.Sub(r.hears) >= min(mend, h.Plan.timeout()) {
			err = rows.expire(&h, now)
		}
		if err == nil {
			err = rows.draw(&h, now, r.revision)
		}
		if err == nil && h.State != Aborted {
			next, err = rows.unsent(id)
		}
		return errors.Join(err, rows.put(heads, id, h), rows.get(contents, id, &config))
	}
	idle := false
	if err := r.o.Store.Read(context.Background(), func(tx backend.Tables) (err error) { idle, err = rows{tx}.idle(id, now); return err }); err != nil {
		return err
	}
	if idle {
		return nil
	}
	if err := r.o.Store.Write(context.Background(), step); err != nil {
		return err
	}
	if len(next) == 0 {
		return nil
	}
	return r.send(ctx, id, config, next)
}

// idle says that nothing is due of a rollout.
func (r rows) idle(id string, now time.Time) (bool, error) {
	h, err := r.head(id)
	keys, _ := r.first(pending, id, 1)
	marked, _ := r.first(unsent, id, 1)
	return h.due(now) == 0 && (len(marked) == 0 || h.State == Aborted) && (len(keys) == 0 || deadline(id, keys[0]).After(now)), err
}

// revision is the next one of a gateway.
func (r *Rollouts) revision(gateway string) uint64 {
	g, _ := r.o.Backend.State(gateway)
	return g.Revision + 1
}

// expire ends the wait for those whose time is over.
func (r rows) expire(h *Rollout, now time.Time) error {
	keys, _ := r.first(pending, h.ID, mostAtOnce)
	for _, key := range keys {
		if deadline(h.ID, key).After(now) {
			return nil
		}
		var s Step
		err := r.get(steps, stepKey(h.ID, key[len(h.ID)+9:]), &s)
		if err == nil {
			err = r.move(h, s, stepLate, "", now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// draw notes who is sent it next, before that is done.
func (r rows) draw(h *Rollout, now time.Time, revision func(gateway string) uint64) error {
	keys, gateways := r.first(queue, h.ID, h.due(now))
	for i, gateway := range gateways {
		var s Step
		if err := r.get(steps, stepKey(h.ID, gateway), &s); err != nil {
			return err
		}
		s.Message, s.Revision = ulid.Make().String(), revision(gateway)
		if err := errors.Join(r.move(h, s, stepSending, "", now), r.tx.Table(queue).Delete([]byte(keys[i]))); err != nil {
			return err
		}
	}
	return nil
}

// unsent are some of those that are to be sent it, or may have been.
func (r rows) unsent(id string) (all []Step, err error) {
	keys, _ := r.first(unsent, id, mostAtOnce)
	for _, key := range keys {
		var s Step
		if err := r.get(steps, key, &s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// steps are those of a rollout, by their gateways.
func (r rows) steps(id string) (all []Step, err error) {
	_, values := r.first(steps, id, 1<<30)
	for _, v := range values {
		var s Step
		if err := json.Unmarshal([]byte(v), &s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// send sends a configuration to gateways and notes that it went. The same id stands for
// the same configuration, so a gateway takes it once if that is not noted.
func (r *Rollouts) send(ctx context.Context, id string, c backend.Configuration, to []Step) error {
	why := make([]string, len(to))
	own := c.Revision
	for i, s := range to {
		if c.Revision = own; own == 0 {
			c.Revision = s.Revision
		}
		err := r.o.Backend.ConfigureAs(ctx, s.Gateway, s.Message, c)
		if ctx.Err() != nil {
			to = to[:i]
			break
		}
		if err != nil {
			why[i] = short(err.Error())
		}
	}
	return r.o.Store.Write(context.Background(), func(tx backend.Tables) error {
		rows := rows{tx}
		h, err := rows.head(id)
		for i, s := range to {
			var now Step
			err = errors.Join(err, rows.get(steps, stepKey(id, s.Gateway), &now))
			switch {
			case err != nil:
				return fmt.Errorf("note what was sent: %w", err)
			case now.State != stepSending: // it has answered meanwhile
				continue
			case why[i] != "":
				err = rows.move(&h, now, stepRefused, why[i], time.Now().UTC())
			default:
				err = rows.move(&h, now, stepSent, "", time.Time{})
			}
		}
		return errors.Join(err, rows.put(heads, id, h))
	})
}
