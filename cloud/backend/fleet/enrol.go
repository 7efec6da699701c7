package fleet

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// mostAsks is how many requests for a certificate wait at most: a gateway asks again.
const mostAsks = 1000

// wanted is a request for a certificate.
type wanted struct {
	gateway string
	request cloud.Enrolled
}

// brought is the secret of a claim, by which the gateway asks for its certificate.
type brought struct {
	secret []byte
	asked  atomic.Bool // it has
}

// enrol lets a request wait for its answer.
func (f *Fleet) enrol(m backend.Received) {
	a := wanted{gateway: m.Gateway}
	if f.o.Authority == nil || json.Unmarshal(m.Data, &a.request) != nil {
		return
	}
	select {
	case f.asks <- a:
	default:
	}
}

// certify answers the requests, until ctx ends.
func (f *Fleet) certify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-f.asks:
			if err := f.answer(ctx, a); err != nil && ctx.Err() == nil && f.warn.Allow() {
				f.o.Log.Warn("a gateway gets no certificate", "gateway", a.gateway, "reason", err)
			}
		}
	}
}

// newWarn is how often the log is told of requests without an answer: strangers may send many.
func newWarn() *rate.Limiter { return rate.NewLimiter(rate.Every(10*time.Second), 10) }

// answer gives a gateway its certificate. One that asks by the secret of its claim has taken that: where
// its receipt goes may be another broker.
func (f *Fleet) answer(ctx context.Context, a wanted) error {
	answer, err := f.o.Authority.Answer(a.gateway, a.request)
	if err == nil {
		err = f.push(ctx, a.gateway, answer)
	}
	claim, there := f.brought.Load(a.gateway)
	var asked cloud.EnrolRequest
	if err != nil || !there || a.request.Open(claim.(*brought).secret, cloud.Topics{Gateway: a.gateway}.Up(cloud.LevelEnrol), &asked) != nil {
		return err
	}
	claim.(*brought).asked.Store(true)
	return f.store.Write(ctx, func(tx backend.Tables) error { return enrolled(tx.Table(claims), a.gateway) })
}

func (f *Fleet) push(ctx context.Context, gateway string, answer cloud.Enrolled) error {
	ctx, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	_, err := f.backend.Push(ctx, gateway, cloud.LevelEnrol, answer)
	return err
}

// revoked are the gateways whose certificates were taken back, and when.
func (f *Fleet) revoked() map[string]time.Time {
	if f.o.Authority == nil {
		return nil
	}
	all, err := f.o.Authority.Revoked()
	if err != nil {
		f.o.Log.Warn("which certificates are revoked cannot be read", "reason", err)
	}
	return all
}
