package enrol

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"slices"
	"time"

	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// Take takes what the cloud answers to a request. What its claim has not sealed is refused. An
// error means that nothing was stored.
func (e *Enrolment) Take(ctx context.Context, m cloud.Envelope) error {
	e.turn.Lock()
	defer e.turn.Unlock()
	err := e.apply(ctx, m)
	switch refusal := problem.As(err); {
	case err == nil:
		e.mu.Lock()
		e.resting = time.Time{}
		e.mu.Unlock()
		e.wake.Wake()
		return nil
	case refusal == nil, refusal.Code.Unstored():
		return err // not stored, so not acknowledged
	default:
		return e.o.Receipts.Refuse(ctx, m, refusal)
	}
}

// apply stores an answer with its receipt. The caller has the turn.
func (e *Enrolment) apply(ctx context.Context, m cloud.Envelope) error {
	s := e.snapshot()
	secret, same := e.secret(s)
	if secret == nil || !same {
		return problem.New(problem.Conflict, "", "this gateway has asked for no certificate: claim it with an authority first")
	}
	var data cloud.Enrolled
	if err := m.DataInto(&data); err != nil {
		return problem.New(problem.Invalid, "sealed", "is missing or not base64: %v", err)
	}
	var said cloud.EnrolAnswer
	if err := data.Open(secret, cloud.Topics{Gateway: e.o.Gateway}.Down(cloud.LevelEnrol), &said); err != nil {
		return problem.New(problem.Forbidden, "sealed", "was not sealed with the secret of this gateway's claim")
	}
	if len(s.Next.Request) == 0 || !bytes.Equal(said.Of, cloud.OfRequest(s.Next.Request)) {
		return problem.New(problem.Conflict, "sealed", "answers another request than the last one")
	}
	receipt := func(tx *store.Tx) error { return e.o.Receipts.Answer(tx, m.ID) }
	if len(said.Chain) == 0 {
		return e.denied(ctx, s, said, receipt)
	}
	if err := e.check(s.Next, said.Chain); err != nil {
		return err
	}
	s.Next.Chain, s.Code, s.Why = said.Chain, "", ""
	return e.put(ctx, s, receipt)
}

// denied stores why the cloud gives no certificate. The key of the request is not used again.
func (e *Enrolment) denied(ctx context.Context, s stored, said cloud.EnrolAnswer, receipt func(*store.Tx) error) error {
	known := s.Code == said.Code && s.Why == said.Reason
	s.Next, s.Code, s.Why = pair{}, said.Code, said.Reason
	err := e.put(ctx, s, receipt, func(tx *store.Tx) error {
		if known {
			return nil
		}
		return e.event(tx, eventRefused, map[string]any{"code": said.Code, "reason": said.Reason, "kept": len(s.Now.Chain) > 0})
	})
	if err == nil {
		e.o.Log.Warn("the cloud gives this gateway no certificate", "code", said.Code, "reason", said.Reason)
	}
	return err
}

// check refuses a chain that is not of the gateway's key, or cannot serve.
func (e *Enrolment) check(next pair, chain [][]byte) error {
	refuse := func(format string, args ...any) error {
		return problem.New(problem.Invalid, "chain", format, args...)
	}
	leaf, err := x509.ParseCertificate(chain[0])
	if err != nil {
		return refuse("has no certificate in DER first: %v", err)
	}
	for i, der := range chain[1:] {
		if c, err := x509.ParseCertificate(der); err != nil || i > 3 {
			return refuse("cannot be read, or is longer than five: %v", err)
		} else if err := leaf.CheckSignatureFrom(c); i == 0 && err != nil {
			return refuse("is of two authorities: %v", err)
		}
	}
	public, _ := leaf.PublicKey.(*ecdsa.PublicKey)
	own := pair{Key: next.Key, Chain: chain}.certificate()
	now, trusted := e.trusted()
	switch {
	case public == nil || own == nil:
		return refuse("is of another key than the request")
	case leaf.Subject.CommonName != e.o.Gateway:
		return refuse("is of %q, want %q", leaf.Subject.CommonName, e.o.Gateway)
	case !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageClientAuth):
		return refuse("is not for clients")
	case !leaf.NotAfter.After(leaf.NotBefore):
		return refuse("ends before it begins")
	case trusted && now.After(leaf.NotAfter):
		return refuse("ended on %s", leaf.NotAfter.UTC().Format(time.DateOnly))
	case trusted && now.Before(leaf.NotBefore):
		return refuse("is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}
