package agent

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/loop"
	"roomgate/agent/mail"
	"roomgate/store"
)

const (
	// maxLetters bounds the letters that wait for the relay. Of one-time
	// passwords each address has at most one there, the last.
	maxLetters = 300
	// codePrefix begins the place of a one-time password's letter.
	codePrefix = "code."
	// letterLife is how long other letters wait for the relay.
	letterLife = 3 * 24 * time.Hour
	// relayPause is the longest that a relay which takes nothing is left alone:
	// somebody may wait for a one-time password that lives ten minutes.
	relayPause = time.Minute
	// mailboxStep is the longest that the mailbox sleeps.
	mailboxStep = time.Hour
)

// letter is a letter as it is sealed.
type letter struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Decoy   int    `json:"decoy"` // 1: nobody gets it
}

// mailbox is where letters wait.
type mailbox struct {
	dial   Dialer
	posted loop.Signal // holds a token when there is a new letter
	// failing is why the relay takes nothing now; nil: it does.
	failing atomic.Pointer[string]
}

// postLetters queues letters, all or none.
func (a *Agent) postLetters(ctx context.Context, letters []letter) error {
	if a.config.SMTP.URL == "" {
		return refuse(Unavailable, "", "this gateway has no mail relay: set smtp.url")
	}
	err := a.db.Update(ctx, func(tx *store.Tx) error { return a.putLetters(tx, letters) })
	if err == nil {
		a.signIn.mailbox.posted.Wake()
	}
	return err
}

// putLetters queues letters in a transaction that is under way. Who has
// committed it wakes the mailbox.
func (a *Agent) putLetters(tx *store.Tx, letters []letter) error {
	now := a.moment()
	for _, l := range letters {
		if err := a.putLetter(tx, ulid.Make().String(), l, letterLife, now); err != nil {
			return err
		}
	}
	return nil
}

// putLetter queues a letter at a place; one that waits there already is
// replaced.
func (a *Agent) putLetter(tx *store.Tx, place string, l letter, life time.Duration, now auth.Moment) error {
	if _, err := mails.Get(tx, place); errors.Is(err, store.ErrNotFound) && mails.Len(tx) >= maxLetters {
		return fullMailbox()
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return mails.Put(tx, place, storedMail{ID: strings.ToLower(ulid.Make().String()), Posted: now, Life: life,
		Sealed: a.signIn.keys.Seal(place, text)})
}

func fullMailbox() error {
	return refuse(Unavailable, "", "%d letters wait for the mail relay, no more are taken: see the gateway's log, then try again", maxLetters)
}

// waiting is a letter that waits, and how it went so far.
type waiting struct {
	storedMail
	tries int
	due   time.Time // not before
	done  bool      // the relay has it
}

// postman is the loop that sends what waits. What belongs to it needs no lock.
type postman struct {
	*Agent
	known map[string]*waiting // by place
	fails int                 // of the relay, in a row
	due   time.Time           // not before is the relay tried again
}

// runMailbox sends what waits until ctx ends. What was not taken by then waits
// for the next start.
func (a *Agent) runMailbox(ctx context.Context) error {
	p := &postman{Agent: a, known: map[string]*waiting{}}
	for {
		wait := p.turn(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-a.signIn.mailbox.posted:
		case <-time.After(max(wait, time.Millisecond)):
		}
	}
}

// turn sends what is due and says how long it can wait.
func (p *postman) turn(ctx context.Context) time.Duration {
	order, err := p.look()
	if err != nil {
		p.log.Error("not every letter that waits can be read", "error", err)
	}
	next := time.Now().Add(mailboxStep)
	for _, place := range order {
		w := p.known[place]
		if w.due.After(time.Now()) {
			next = earlier(next, w.due)
			continue
		}
		if ctx.Err() != nil || !p.deal(ctx, place, w) {
			next = earlier(next, later(w.due, p.due))
		}
	}
	return time.Until(next)
}

// look reads what waits. A letter that was replaced begins anew.
func (p *postman) look() (order []string, err error) {
	found := map[string]*waiting{}
	err = p.db.View(func(tx *store.Tx) error {
		for place, m := range mails.All(tx) {
			w := p.known[place]
			if w == nil || w.ID != m.ID {
				w = &waiting{storedMail: m}
			}
			found[place] = w
			order = append(order, place)
		}
		return tx.Err()
	})
	p.known = found
	return order, err
}

// deal sends a letter or throws it away, and says whether it is gone.
func (p *postman) deal(ctx context.Context, place string, w *waiting) bool {
	var l letter
	text, err := p.signIn.keys.Open(place, w.Sealed)
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	age, known := p.moment().Since(w.Posted)
	isCode := strings.HasPrefix(place, codePrefix)
	switch {
	case err != nil:
		p.log.Warn("a letter that waits cannot be read, it is thrown away", "letter", w.ID)
	case l.Decoy != 0, w.done:
	case known && age >= w.Life, !known && isCode: // such a one-time password is void
		p.log.Warn("a letter waited too long for the mail relay, it is thrown away", "letter", w.ID)
	case p.due.After(time.Now()):
		return false
	default:
		if !p.send(ctx, l, w) {
			return false
		}
	}
	return p.drop(ctx, place, w)
}

// send hands a letter to the relay, and says whether it is done with.
func (p *postman) send(ctx context.Context, l letter, w *waiting) bool {
	relay, err := p.relay()
	if err == nil {
		out := mail.Letter{ID: w.ID, To: l.To, Subject: l.Subject, Text: l.Text}
		if w.Posted.Trusted {
			out.Date = time.UnixMilli(w.Posted.Milli)
		}
		err = relay.Send(ctx, out)
	}
	if ctx.Err() != nil && err != nil {
		return false
	}
	var e *mail.Error
	all := !errors.As(err, &e) || e.Relay
	switch {
	case err == nil:
		if p.fails > 0 {
			p.log.Info("the mail relay takes letters again")
		}
		p.fails, w.done = 0, true
		p.signIn.mailbox.failing.Store(nil)
		return true
	case !all && e.Permanent:
		p.log.Warn("the mail relay refused a letter, it is thrown away", "letter", w.ID, "error", err)
		return true
	case !all:
		w.tries++
		age, _ := p.moment().Since(w.Posted)
		w.due = time.Now().Add(min(mail.Backoff(w.tries, rand.Float64()), w.Life-age))
		p.log.Info("the mail relay put off a letter", "letter", w.ID, "tries", w.tries, "error", err)
		return false
	}
	p.fails++
	reason := err.Error()
	p.signIn.mailbox.failing.Store(&reason)
	p.due = time.Now().Add(min(mail.Backoff(p.fails, rand.Float64()), relayPause))
	if p.fails == 1 {
		p.log.Warn("the mail relay takes no letters, they wait", "error", err)
	}
	return false
}

// drop takes a letter from the queue, unless another one has its place. What
// the relay took goes even when the building stops.
func (p *postman) drop(ctx context.Context, place string, w *waiting) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	err := p.db.Update(ctx, func(tx *store.Tx) error {
		now, err := mails.Get(tx, place)
		if err != nil || now.ID != w.ID {
			return nil
		}
		return mails.Delete(tx, place)
	})
	if err != nil {
		w.due = time.Now().Add(relayPause)
		p.log.Error("a letter that is done with cannot be taken from the queue", "letter", w.ID, "error", err)
	}
	return err == nil
}

// relay is the configured one. Files are read each time, so that a new
// password or certificate counts.
func (a *Agent) relay() (*mail.Relay, error) {
	c := a.config.SMTP
	from, err := mail.ParseFrom(c.From)
	if err != nil {
		return nil, fmt.Errorf("smtp.from %w", err)
	}
	r := &mail.Relay{From: from, Username: c.Username, Dial: a.signIn.mailbox.dial}
	r.Address, r.Implicit, r.Plain = c.Server()
	if r.Password, err = c.Password.Reveal(c.PasswordFile); err != nil {
		return nil, fmt.Errorf("smtp.password_file: %w", err)
	}
	if c.CAFile == "" {
		return r, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read smtp.ca_file: %w", err)
	}
	if r.CAs = x509.NewCertPool(); !r.CAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("smtp.ca_file %s holds no certificate", c.CAFile)
	}
	return r, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
