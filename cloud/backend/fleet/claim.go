package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// claims are by gateway: Claimed.
const claims = "roomgate.claims"

// Claim is what somebody has brought who stands before a gateway.
type Claim struct {
	Gateway        string `json:"gateway_id"`
	Code           string `json:"code"`
	Organization   string `json:"organization"`
	OrganizationID string `json:"organization_id,omitempty"` // a UUID; empty: one is made
	// The gateway's own login at the broker from now on, as roomgate cloud cell makes it; empty: it keeps its own.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
}

// Claimed is whom a gateway belongs to. The fleet keeps neither the code nor the password.
type Claimed struct {
	Gateway        string    `json:"gateway_id"`
	Organization   string    `json:"organization"`
	OrganizationID string    `json:"organization_id"`
	MessageID      string    `json:"message_id"`
	State          string    `json:"state"` // "sent", and then what the receipt says
	Reason         string    `json:"reason,omitempty"`
	Time           time.Time `json:"time"`
	// Taken says that an earlier claim was taken, or may have been: the gateway has the login that it brought.
	Taken bool `json:"taken,omitempty"`
}

// sent is the state of a claim without a receipt.
const sent = "sent"

// released is the state of a claim that the gateway has ended.
const released = "released"

// Claim brings a code to a gateway. The receipt shows whether it was right.
func (f *Fleet) Claim(ctx context.Context, c Claim) (Claimed, error) {
	if !cloud.ValidGateway(c.Gateway) || c.Organization == "" || (c.Username == "") != (c.Password == "") {
		return Claimed{}, fmt.Errorf("%w: want gateway_id, code and organization, and username with password or neither", errInvalid)
	}
	done := Claimed{Gateway: c.Gateway, Organization: c.Organization, OrganizationID: c.OrganizationID, State: sent, Time: time.Now().UTC()}
	if done.OrganizationID == "" {
		done.OrganizationID = newUUID()
	}
	claim := backend.Claim{Organization: c.Organization, OrganizationID: done.OrganizationID, Username: c.Username, Password: c.Password}
	if by := f.o.Broker.Signer; by != nil {
		claim.SigningKeys = []backend.SigningKey{by.Public()}
	}
	brought := &brought{}
	if _, err := backend.SealClaim(c.Gateway, c.Code, claim); err != nil {
		return Claimed{}, fmt.Errorf("%w: %w", errInvalid, err)
	}
	var err error
	if done.Taken, err = f.hasLogin(c.Gateway); err != nil {
		return Claimed{}, err
	}
	if claim.Username == "" && f.o.Admit != nil && !done.Taken { // another login would end the one that it has
		if claim.Username, claim.Password, err = f.o.Admit(c.Gateway); err != nil {
			return Claimed{}, err
		}
	}
	if f.o.Authority != nil { // last: a claim that goes nowhere leaves no secret that waits
		if claim.Enrolment, err = f.o.Authority.Admit(c.Gateway); err != nil {
			return Claimed{}, err
		}
		brought.secret = claim.Enrolment
		f.brought.Store(c.Gateway, brought)
	}
	if done.MessageID, err = f.backend.Claim(ctx, c.Gateway, c.Code, claim); err != nil {
		return Claimed{}, err
	}
	err = f.store.Write(context.Background(), func(tx backend.Tables) error {
		if err := putJSON(tx.Table(claims), c.Gateway, done); err != nil {
			return err
		}
		if brought.asked.Load() {
			return enrolled(tx.Table(claims), c.Gateway)
		}
		return answered(tx, c.Gateway)
	})
	return done, err
}

// hasLogin says whether a gateway has taken a claim, or may have, and was not sent away since.
func (f *Fleet) hasLogin(gateway string) (taken bool, err error) {
	err = f.store.Read(context.Background(), func(tx backend.Tables) error {
		raw := tx.Table(claims).Get([]byte(gateway))
		if raw == nil {
			return nil
		}
		var before Claimed
		err := json.Unmarshal(raw, &before)
		taken = before.Taken || before.State == sent || before.State == backend.Done
		return err
	})
	if err != nil || !taken || f.o.Admitted == nil {
		return taken, err
	}
	return f.o.Admitted(gateway)
}

// answered notes a receipt that has come before what it answers was stored.
func answered(tx backend.Tables, gateway string) error {
	n := 0
	for _, raw := range tx.Table(rows).Down() {
		if n++; n > mostRows {
			break
		}
		var r Row
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		if r.Gateway == gateway && r.Type == cloud.TypeOf(cloud.LevelReceipt) {
			m := backend.Received{Gateway: gateway, Envelope: cloud.Envelope{Data: r.Data}}
			if err := errors.Join(claimed(tx.Table(claims), m), taken(tx.Table(schedules), m)); err != nil {
				return err
			}
		}
	}
	return nil
}

// claimed notes what the receipt of a claim says.
func claimed(b backend.Table, m backend.Received) error {
	var done Claimed
	var r backend.Receipt
	raw := b.Get([]byte(m.Gateway))
	if raw == nil || json.Unmarshal(m.Data, &r) != nil {
		return nil
	}
	if err := json.Unmarshal(raw, &done); err != nil || done.MessageID != r.CommandID || r.State == backend.Accepted {
		return err
	}
	done.State, done.Reason = r.State, r.Reason
	return putJSON(b, m.Gateway, done)
}

// enrolled notes that a gateway has asked by the secret that its claim has brought.
func enrolled(b backend.Table, gateway string) error {
	var done Claimed
	raw := b.Get([]byte(gateway))
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &done); err != nil || done.State != sent {
		return err
	}
	done.State, done.Reason = backend.Done, ""
	return putJSON(b, gateway, done)
}

// freed notes that a gateway has ended its claim, with the login that it had brought.
func freed(b backend.Table, m backend.Received) error {
	var done Claimed
	raw := b.Get([]byte(m.Gateway))
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &done); err != nil {
		return err
	}
	done.State, done.Reason, done.Taken = released, "", false
	return putJSON(b, m.Gateway, done)
}

// putJSON stores a value.
func putJSON(b backend.Table, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put([]byte(key), raw)
}

// from reads at most so many values of a table, from a key on, and the key that follows.
func from[T any](f *Fleet, table, key string, limit int) (values []T, next string, err error) {
	values = []T{}
	err = f.store.Read(context.Background(), func(tx backend.Tables) error {
		for k, raw := range tx.Table(table).From([]byte(key)) {
			if len(values) == limit {
				next = string(k)
				break
			}
			var v T
			if err := json.Unmarshal(raw, &v); err != nil {
				return err
			}
			values = append(values, v)
		}
		return nil
	})
	return values, next, err
}

// newUUID is a random one.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
