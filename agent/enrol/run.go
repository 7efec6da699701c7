package enrol

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	mathrand "math/rand/v2"
	"net/url"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/store"
)

const (
	// lookEvery is how often is looked whether the certificate is to be renewed: the clock may jump.
	lookEvery = 30 * time.Minute
	// From the first to the longest pause between two requests, or two tries with a new certificate.
	firstPause, longestPause = 30 * time.Second, time.Hour
	// A certificate that a broker has refused is asked for again that much later at first.
	refusedPause = 10 * time.Minute
)

// Run asks for a certificate, tries it and renews it, until ctx ends.
func (e *Enrolment) Run(ctx context.Context) error {
	for {
		claimed := e.o.Claimed()
		pause, err := e.step(ctx)
		if err != nil && ctx.Err() == nil {
			e.o.Log.Warn("the certificate for the cloud is not stored, trying again", "error", err)
			pause = firstPause
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-claimed:
		case <-e.wake:
		}
		timer.Stop()
	}
}

// step does what is next, and returns how long there is nothing to do.
func (e *Enrolment) step(ctx context.Context) (time.Duration, error) {
	s := e.snapshot()
	secret, same := e.secret(s)
	if !same {
		return 0, e.begin(ctx, secret)
	}
	if secret == nil {
		return lookEvery, nil
	}
	if err := e.tell(ctx); err != nil {
		return 0, err
	}
	e.mu.Lock()
	rest, broken := time.Until(e.resting), e.broken != ""
	e.mu.Unlock()
	wanted := len(s.Next.Chain) > 0 || s.Code != cloud.EnrolRevoked && e.due(s)
	switch {
	case !wanted && !broken:
		return e.untilDue(s), nil
	case rest > 0:
		return min(rest, lookEvery), nil
	case len(s.Next.Chain) > 0:
		return 0, e.prove(ctx, s)
	case broken && e.again(ctx, s):
		return 0, nil
	case !wanted:
		e.rest(firstPause)
		return 0, nil
	}
	return 0, e.ask(ctx, s, secret)
}

// rest lets some time pass before the next request or try: more each time.
func (e *Enrolment) rest(first time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	pause := min(longestPause, first<<min(e.tries, 12))
	e.tries++
	e.resting = time.Now().Add(pause/2 + mathrand.N(pause/2))
}

// settled says that a step has gone on: the next is not held back by those before.
func (e *Enrolment) settled() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tries, e.resting = 0, time.Time{}
}

// begin forgets what was of another claim.
func (e *Enrolment) begin(ctx context.Context, secret []byte) error {
	e.turn.Lock()
	defer e.turn.Unlock()
	had := len(e.snapshot().Now.Chain) > 0
	var s stored
	if secret != nil {
		sum := sha256.Sum256(secret)
		s.Claim = sum[:]
	}
	if err := e.put(ctx, s); err != nil {
		return err
	}
	e.settled()
	e.mu.Lock()
	e.broken, e.told = "", ""
	e.mu.Unlock()
	if had {
		e.o.Renew()
	}
	return nil
}

// due says whether a certificate is to be asked for. By time alone only if the clock is trusted.
func (e *Enrolment) due(s stored) bool {
	c := s.Now.certificate()
	if c == nil {
		return true
	}
	e.mu.Lock()
	broken := e.broken != ""
	e.mu.Unlock()
	now, trusted := e.trusted()
	return broken || trusted && !now.Before(renewAt(c.Leaf))
}

// untilDue is how long the certificate is not asked for again, by what the clock says now.
func (e *Enrolment) untilDue(s stored) time.Duration {
	c := s.Now.certificate()
	if now, trusted := e.trusted(); c != nil && trusted && s.Code != cloud.EnrolRevoked {
		return min(lookEvery, max(renewAt(c.Leaf).Sub(now), time.Second))
	}
	return lookEvery
}

// renewAt is at two thirds of the life of a certificate, and up to a twentieth later: those of
// a fleet that was claimed in one day do not come in one hour.
func renewAt(c *x509.Certificate) time.Time {
	life, sum := c.NotAfter.Sub(c.NotBefore), sha256.Sum256(c.Raw)
	return c.NotBefore.Add(life*2/3 + life/20*time.Duration(sum[0])/256)
}

// ask sends a request. Its key is stored before, or a power cut would leave a certificate
// without one.
func (e *Enrolment) ask(ctx context.Context, s stored, secret []byte) error {
	if len(s.Next.Key) == 0 {
		next, err := e.request()
		if err != nil {
			return err
		}
		if s, err = e.keep(ctx, next); err != nil {
			return err
		}
	}
	data, err := cloud.SealEnrolled(secret, cloud.Topics{Gateway: e.o.Gateway}.Up(cloud.LevelEnrol), cloud.EnrolRequest{Request: s.Next.Request})
	if err != nil {
		return err
	}
	e.rest(firstPause) // the answer ends it, which may be here before Send returns
	if !e.o.Send(ctx, data) {
		e.mu.Lock()
		e.tries, e.resting, e.unsent = max(e.tries-1, 0), time.Now().Add(firstPause), true
		e.mu.Unlock()
		return nil
	}
	e.o.Log.Info("a certificate for the cloud was asked for")
	return nil
}

// keep stores a key and its request.
func (e *Enrolment) keep(ctx context.Context, next pair) (s stored, err error) {
	e.turn.Lock()
	defer e.turn.Unlock()
	s = e.snapshot()
	s.Next = next
	return s, e.put(ctx, s)
}

// request makes a key and a request for it.
func (e *Enrolment) request() (p pair, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return p, err
	}
	if p.Key, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return p, err
	}
	p.Request, err = x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: e.o.Gateway},
		URIs: []*url.URL{cloud.GatewayURI(e.o.Gateway)}}, key)
	return p, err
}

// prove logs in with the new certificate. Only one that was let in takes the place of the one before;
// where nobody wants to see one there is nothing to prove, and the one before stays if there is one.
func (e *Enrolment) prove(ctx context.Context, s stored) error {
	t, asked := e.tryAll(ctx, s.Next)
	switch {
	case ctx.Err() != nil:
		return nil
	case t.Cause == "" && (asked || len(s.Now.Chain) == 0):
		return e.use(ctx)
	case t.Cause == cloud.CauseCertificate, t.Cause == cloud.CauseLogin && asked:
		return e.refused(ctx, t)
	}
	e.rest(firstPause)
	return nil
}

// tryAll logs in at the brokers in turn, until one has said something about the certificate.
func (e *Enrolment) tryAll(ctx context.Context, p pair) (t cloud.Trouble, asked bool) {
	for _, at := range cloud.SplitURL(e.o.URL) {
		t, asked = e.o.Try(ctx, at, p.certificate())
		switch t.Cause {
		case cloud.CauseUnreachable, cloud.CauseNoAnswer, cloud.CauseUnavailable, cloud.CauseSilent, cloud.CauseClosed:
			continue
		}
		if asked {
			break
		}
	}
	return t, asked
}

// use makes the new certificate the one that is shown.
func (e *Enrolment) use(ctx context.Context) error {
	e.turn.Lock()
	defer e.turn.Unlock()
	s := e.snapshot()
	s.Now, s.Next, s.Refused = pair{Key: s.Next.Key, Chain: s.Next.Chain}, pair{}, ""
	c := s.Now.certificate()
	if c == nil {
		return errors.New("the new certificate does not fit its key")
	}
	err := e.put(ctx, s, func(tx *store.Tx) error {
		return e.event(tx, eventCertified, map[string]any{"until": c.Leaf.NotAfter.UTC().Format(time.RFC3339), "serial": c.Leaf.SerialNumber.Text(16)})
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.broken, e.told = "", Good
	e.mu.Unlock()
	if e.due(s) { // an authority whose certificates are renewed as they come
		e.rest(firstPause)
	} else {
		e.settled()
	}
	e.o.Log.Info("a new certificate is shown to the cloud", "until", c.Leaf.NotAfter.UTC().Format(time.RFC3339))
	e.o.Renew()
	return nil
}

// refused goes on with the certificate of before, and asks for another one later.
func (e *Enrolment) refused(ctx context.Context, t cloud.Trouble) error {
	e.turn.Lock()
	defer e.turn.Unlock()
	s := e.snapshot()
	s.Next, s.Refused = pair{}, t.Seen()+" ("+t.Error+")"
	err := e.put(ctx, s, func(tx *store.Tx) error {
		return e.event(tx, eventRefused, map[string]any{"reason": s.Refused, "kept": len(s.Now.Chain) > 0})
	})
	if err == nil {
		e.rest(refusedPause)
		e.o.Log.Warn("the broker does not take the new certificate, going on as before", "reason", t.Error)
	}
	return err
}

// again tries whether the broker takes the certificate in use, after it has not.
func (e *Enrolment) again(ctx context.Context, s stored) bool {
	if s.Now.certificate() == nil {
		return false
	}
	if t, asked := e.tryAll(ctx, s.Now); t.Cause != "" || !asked {
		return false
	}
	e.settled()
	e.mu.Lock()
	e.broken = ""
	e.mu.Unlock()
	e.o.Renew()
	return true
}

// event writes down what happened to the certificate.
func (e *Enrolment) event(tx *store.Tx, kind string, details map[string]any) error {
	return e.o.Events.Tell(tx, eventlog.Record{Type: kind, Time: e.o.Clock.Now(), Device: eventlog.GatewayDevice, Details: details})
}
