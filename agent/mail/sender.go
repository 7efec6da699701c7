package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/certificate"
	"roomgate/agent/loop"
	"roomgate/store"
)

const (
	// relayPause is the longest that a relay which takes nothing is left alone:
	// somebody may wait for a one-time password that lives ten minutes.
	relayPause = time.Minute
	// senderStep is the longest that the sender sleeps.
	senderStep = time.Hour
)

// waiting is a letter that waits, and how it went so far.
type waiting struct {
	storedMail
	tries int
	due   time.Time // not before
	done  bool      // the relay has it
}

// sender is the loop that sends what waits. Its own fields need no lock.
type sender struct {
	*Queue
	known map[string]*waiting // by place
	fails int                 // of the relay, in a row
	due   time.Time           // not before is the relay tried again
}

// Run sends what waits until ctx ends. Letters that were not taken by then wait
// for the next start.
func (q *Queue) Run(ctx context.Context) error {
	s := &sender{Queue: q, known: map[string]*waiting{}}
	for {
		wait := s.turn(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-q.posted:
		case <-time.After(max(wait, time.Millisecond)):
		}
	}
}

// turn sends what is due and says how long it can wait.
func (s *sender) turn(ctx context.Context) time.Duration {
	order, err := s.look()
	if err != nil {
		s.log.Error("not every letter that waits can be read", "error", err)
	}
	next := time.Now().Add(senderStep)
	var decoys []string
	for _, place := range order {
		w := s.known[place]
		if w.due.After(time.Now()) {
			next = loop.Earlier(next, w.due)
			continue
		}
		l, err := s.open(place, w)
		if err == nil && l.Decoy != 0 {
			decoys = append(decoys, place)
			continue
		}
		if ctx.Err() != nil || !s.deal(ctx, place, w, l, err) {
			next = loop.Earlier(next, loop.Later(w.due, s.due))
		}
	}
	if len(decoys) > 0 && !s.drop(ctx, decoys...) {
		next = loop.Earlier(next, time.Now().Add(relayPause))
	}
	return time.Until(next)
}

// look reads what waits. A letter that was replaced begins from the start.
func (s *sender) look() (order []string, err error) {
	found := map[string]*waiting{}
	err = s.db.View(func(tx *store.Tx) error {
		for place, m := range mails.All(tx) {
			w := s.known[place]
			if w == nil || w.ID != m.ID {
				w = &waiting{storedMail: m}
			}
			found[place] = w
			order = append(order, place)
		}
		return tx.Err()
	})
	s.known = found
	return order, err
}

// open reads a letter.
func (s *sender) open(place string, w *waiting) (l sealedLetter, err error) {
	text, err := s.keys.Open(place, w.Sealed)
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	return l, err
}

// deal sends a letter, or throws away what err keeps it from reading, and says whether it is gone.
func (s *sender) deal(ctx context.Context, place string, w *waiting, l sealedLetter, err error) bool {
	age, known := s.moment().Since(w.Posted)
	isCode := strings.HasPrefix(place, codePrefix)
	switch {
	case err != nil:
		s.log.Warn("a letter that waits cannot be read, it is thrown away", "letter", w.ID)
	case w.done:
	case known && age >= w.Life, !known && isCode: // such a one-time password is void
		s.log.Warn("a letter waited too long for the mail relay, it is thrown away", "letter", w.ID)
	case s.due.After(time.Now()):
		return false
	default:
		if !s.send(ctx, l, w) {
			return false
		}
	}
	return s.drop(ctx, place)
}

// send hands a letter to the relay, and says whether it is done with.
func (s *sender) send(ctx context.Context, l sealedLetter, w *waiting) bool {
	relay, err := s.relay()
	if err == nil {
		out := Letter{ID: w.ID, To: l.To, Subject: l.Subject, Text: l.Text}
		if w.Posted.Trusted {
			out.Date = time.UnixMilli(w.Posted.Milli)
		}
		err = relay.Send(ctx, out)
	}
	if ctx.Err() != nil && err != nil {
		return false
	}
	var e *Error
	all := !errors.As(err, &e) || e.Relay
	switch {
	case err == nil:
		if s.fails > 0 {
			s.log.Info("the mail relay takes letters again")
		}
		s.fails, w.done = 0, true
		s.failing.Store(nil)
		return true
	case !all && e.Permanent:
		s.log.Warn("the mail relay refused a letter, it is thrown away", "letter", w.ID, "error", err)
		return true
	case !all:
		w.tries++
		age, _ := s.moment().Since(w.Posted)
		w.due = time.Now().Add(min(Backoff(w.tries, rand.Float64()), w.Life-age))
		s.log.Info("the mail relay put off a letter", "letter", w.ID, "tries", w.tries, "error", err)
		return false
	}
	s.fails++
	reason := err.Error()
	s.failing.Store(&reason)
	s.due = time.Now().Add(min(Backoff(s.fails, rand.Float64()), relayPause))
	if s.fails == 1 {
		s.log.Warn("the mail relay takes no letters, they wait", "error", err)
	}
	return false
}

// drop takes letters from the queue, all in one transaction, unless others have their places. What
// the relay took goes even when the building stops.
func (s *sender) drop(ctx context.Context, places ...string) bool {
	ctx, cancel := loop.Last(ctx)
	defer cancel()
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		for _, place := range places {
			now, err := mails.Get(tx, place)
			if err != nil || now.ID != s.known[place].ID {
				continue
			}
			if err := mails.Delete(tx, place); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for _, place := range places {
			s.known[place].due = time.Now().Add(relayPause)
		}
		s.log.Error("cannot remove finished letters from the queue", "letters", len(places), "error", err)
	}
	return err == nil
}

// relay is the configured one. Files are read each time, so that a new
// password or certificate counts.
func (q *Queue) relay() (*Relay, error) {
	c := q.settings
	from, err := auth.ParseSender(c.From)
	if err != nil {
		return nil, fmt.Errorf("smtp.from %w", err)
	}
	r := &Relay{Address: c.Address, Implicit: c.Implicit, Plain: c.Plain, From: from, Username: c.Username, Dial: q.dial}
	if r.Password, err = c.Password(); err != nil {
		return nil, fmt.Errorf("smtp.password_file: %w", err)
	}
	if r.CAs, err = certificate.Authorities(c.CAFile); err != nil {
		return nil, fmt.Errorf("read smtp.ca_file: %w", err)
	}
	return r, nil
}
