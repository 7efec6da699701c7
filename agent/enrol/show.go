package enrol

import (
	"context"
	"crypto/tls"
	"time"

	"roomgate/agent/cloudlink"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/store"
)

// The states of the certificate, for machines.
const (
	Wanted      = "wanted"        // there is none yet: it was asked for, or waits to be let in
	Good        = "good"          // it is let in, as far as is known
	Renewing    = "renewing"      // the same, and another one was asked for
	Kept        = "kept"          // the broker did not take the new one, so the one before goes on
	Revoked     = "revoked"       // the cloud has taken it back
	Denied      = "denied"        // the cloud gives none, for another reason
	Ended       = "ended"         // its time is over
	NotYetValid = "not_yet_valid" // its time has not begun
	Refused     = "refused"       // the broker does not take it
)

// Show is tls.Config.GetClientCertificate.
func (e *Enrolment) Show(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now == nil || e.broken != "" && e.flip && e.o.First == "" {
		return &tls.Certificate{}, nil
	}
	return e.now, nil
}

// At is where the next connection goes, after what was last met: to the broker for gateways
// without a certificate if there is none that can serve. One that was refused is shown again each
// other time: it may be the broker that is wrong.
func (e *Enrolment) At(last cloud.Trouble) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now == nil {
		return e.first()
	}
	if last.Cause == cloud.CauseCertificate && !last.At.Equal(e.handled) { // not the one of an earlier connection
		e.handled = last.At
		if e.broken == "" {
			e.flip = false
			e.wake.Wake()
		}
		e.broken, e.flip = last.Error, !e.flip
	}
	if e.broken != "" && e.flip || e.over() == Ended {
		return e.first()
	}
	return e.o.URL
}

func (e *Enrolment) first() string {
	if e.o.First == "" {
		return e.o.URL
	}
	return e.o.First
}

// over is what is wrong with the time of the certificate, if the clock is trusted. The caller has mu.
func (e *Enrolment) over() string {
	now, trusted := e.trusted()
	switch leaf := e.now.Leaf; {
	case !trusted:
		return ""
	case now.After(leaf.NotAfter):
		return Ended
	case now.Before(leaf.NotBefore):
		return NotYetValid
	}
	return ""
}

// Status is how the certificate is; nil: the claim has brought no secret for one.
func (e *Enrolment) Status() *cloudlink.Certificate {
	e.mu.Lock()
	s, pair, broken := e.s, e.now, e.broken
	e.mu.Unlock()
	if secret, same := e.secret(s); secret == nil {
		return nil
	} else if !same {
		s, pair = stored{}, nil
	}
	c := &cloudlink.Certificate{State: Wanted, Seen: "the gateway has asked its cloud for a certificate, and has none yet", Fix: "see that the backend runs with its authority: roomgate cloud serve --ca"}
	if pair != nil {
		c.From, c.Until = pair.Leaf.NotBefore.UTC(), pair.Leaf.NotAfter.UTC()
		c.State, c.Seen, c.Fix = Good, "it is good until "+c.Until.Format(time.DateOnly), ""
		if e.due(s) {
			c.State, c.Seen = Renewing, c.Seen+", and another one was asked for"
		}
	}
	e.wrong(c, s, pair, broken)
	return c
}

// wrong words what is wrong, the worst last.
func (e *Enrolment) wrong(c *cloudlink.Certificate, s stored, pair *tls.Certificate, broken string) {
	say := func(state, seen, fix string) { c.State, c.Seen, c.Fix = state, seen, fix }
	if s.Refused != "" {
		say(Kept, "the broker did not take the new certificate: "+s.Refused, "see that the broker believes the authority that signs (cafile of Mosquitto)")
		if pair != nil {
			c.Seen += "; the one before goes on, until " + c.Until.Format(time.DateOnly)
		}
	}
	if broken != "" {
		say(Refused, "the broker does not take the gateway's certificate ("+broken+")", "see the broker's log, its list of authorities, and whether its clock is right; the gateway asks for another one")
	}
	if pair != nil {
		e.mu.Lock()
		over := e.overOf(pair)
		e.mu.Unlock()
		switch over {
		case Ended:
			say(Ended, "the gateway's certificate ended on "+c.Until.Format(time.RFC3339), "see that the gateway reaches cloud.enrol_url, where it gets another one")
		case NotYetValid:
			say(NotYetValid, "the gateway's certificate is not valid before "+c.From.Format(time.RFC3339), "check the clocks of the gateway and of whoever signed")
		}
	}
	switch {
	case s.Code == cloud.EnrolRevoked:
		say(Revoked, "the cloud has revoked the gateway's certificate: "+s.Why, "if the gateway is to come back: sudo roomgate claim --release, and claim it again")
	case s.Code != "":
		say(Denied, "the cloud gives this gateway no certificate: "+s.Why, "see the log of the backend")
	}
}

func (e *Enrolment) overOf(pair *tls.Certificate) string {
	if e.now == pair {
		return e.over()
	}
	return ""
}

// tell writes an event when what is wrong with the certificate in use is another thing.
func (e *Enrolment) tell(ctx context.Context) error {
	c := e.Status()
	if c == nil {
		return nil
	}
	e.mu.Lock()
	known := e.told == c.State
	e.mu.Unlock()
	if known {
		return nil
	}
	if c.State == Ended || c.State == NotYetValid || c.State == Refused {
		e.o.Log.Warn("the certificate for the cloud is not good", "state", c.State, "reason", c.Seen)
		err := e.o.Events.Commit(ctx, eventlog.Stage{Write: func(tx *store.Tx) error {
			return e.event(tx, eventWrong, map[string]any{"state": c.State, "reason": c.Seen})
		}})
		if err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.told = c.State
	e.mu.Unlock()
	return nil
}
