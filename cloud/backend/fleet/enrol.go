package fleet

import (
	"context"
	"encoding/json"
	"time"

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
			answer, err := f.o.Authority.Answer(a.gateway, a.request)
			if err == nil {
				err = f.push(ctx, a.gateway, answer)
			}
			if err != nil && ctx.Err() == nil {
				f.o.Log.Warn("a gateway gets no certificate", "gateway", a.gateway, "reason", err)
			}
		}
	}
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
