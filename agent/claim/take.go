package claim

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/cloudkey"
	"roomgate/agent/eventlog"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// message is what is sealed in down/claim.
type message struct {
	OrganizationID string `json:"organization_id"`
	Organization   string `json:"organization"`
	// SigningKeys are those that the cloud signs with from now on.
	SigningKeys []cloudkey.Key `json:"signing_keys"`
	// Enrolment is the secret by which the gateway gets a certificate; empty: it gets none.
	Enrolment []byte `json:"enrolment"`
	login
}

// Take lets who has the code claim the gateway, once, and answers with a receipt.
// The code itself is never sent: what it opens was sealed by somebody who has
// it. An error means that nothing was stored.
func (cl *Claim) Take(ctx context.Context, e cloud.Envelope) error {
	cl.turn.Lock()
	defer cl.turn.Unlock()
	err := cl.apply(ctx, e)
	switch refusal := problem.As(err); {
	case err == nil:
		return nil
	case refusal == nil, refusal.Code.Unstored():
		return err // not stored, so not acknowledged
	default:
		return cl.o.Receipts.Refuse(ctx, e, refusal)
	}
}

// apply stores a claim with its receipt, and only then uses it. The caller has
// the turn.
func (cl *Claim) apply(ctx context.Context, e cloud.Envelope) error {
	if why := cl.off(); why != "" {
		return problem.New(problem.Conflict, "", "this gateway cannot be claimed: %s", why)
	}
	cl.mu.Lock()
	have := cl.stored
	cl.mu.Unlock()
	switch {
	case have != nil && have.Message == e.ID:
		return cl.o.Receipts.Again(ctx, e)
	case have != nil:
		return problem.New(problem.Conflict, "", "this gateway is claimed already: end that with roomgate claim --release at the gateway")
	}
	m, err := cl.open(e.Data)
	if err != nil {
		return err
	}
	s, err := cl.seal(m, e.ID)
	if err != nil {
		return err
	}
	signers, err := cl.signers(m)
	if err != nil {
		return err
	}
	err = cl.store(ctx, e, s, signers, func() {
		cl.mu.Lock()
		cl.stored, cl.secrets, cl.codes = &s, secrets{m.login, m.Enrolment}, nil
		cl.mu.Unlock()
		cl.changed.Wake()
	})
	if err != nil {
		return err
	}
	cl.o.Log.Info("this gateway was claimed", "organization", s.OrganizationID, "own_user", m.Username != "")
	if m.Username != "" {
		cl.o.LoginChanged()
	}
	return nil
}

// signers makes the keys of a claim those of the gateway.
func (cl *Claim) signers(m message) (eventlog.Stage, error) {
	if len(m.SigningKeys) == 0 {
		return cl.o.Signers.StageNone(), nil
	}
	s, err := cl.o.Signers.Stage(m.SigningKeys)
	if refusal := problem.As(err); refusal != nil {
		under := *refusal
		under.Field = "signing_keys" + under.Field
		return s, &under
	}
	return s, err
}

// open is what was sealed with a code that is or was just shown.
func (cl *Claim) open(data []byte) (m message, err error) {
	var outer struct {
		Sealed []byte `json:"sealed"`
	}
	if err := json.Unmarshal(data, &outer); err != nil || len(outer.Sealed) == 0 {
		return m, problem.New(problem.Invalid, "sealed", "is missing or not base64: seal the claim with its code")
	}
	raw, err := cl.unseal(outer.Sealed)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, problem.New(problem.Invalid, "sealed", "holds no claim: want a JSON object")
	}
	return m, m.check()
}

func (cl *Claim) unseal(sealed []byte) ([]byte, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	before, now := cl.wrong, cl.o.Moment()
	if wait, ok := cl.wrong.Take(wrongCodes, now); !ok {
		return nil, problem.New(problem.Unavailable, "", "too many wrong claim codes came: try again in %v", wait.Truncate(time.Second)+time.Second)
	}
	for _, code := range cl.codes {
		if time.Since(code.made) >= codeLife {
			continue
		}
		if raw, err := cloud.Unseal(code.text, cloud.Topics{Gateway: cl.o.ID}.Down(cloud.LevelClaim), sealed); err == nil {
			cl.wrong = before
			return raw, nil
		}
	}
	return nil, problem.New(problem.Forbidden, "", "the claim code is wrong, used or too old: take the one that the gateway shows now")
}

// check refuses what cannot be used.
func (m *message) check() error {
	m.Organization = strings.TrimSpace(m.Organization)
	refuse := func(field, words string) error { return problem.New(problem.Invalid, field, "%s", words) }
	switch {
	case !auth.IsUUID(m.OrganizationID):
		return refuse("organization_id", "is not a UUID in small letters")
	case m.Organization == "" || !text(m.Organization, 100):
		return refuse("organization", "is the name: want 1 to 100 bytes of text")
	case !text(m.Username, 128):
		return refuse("username", "is out of range: want at most 128 bytes of text")
	case !text(m.Password, 1024):
		return refuse("password", "is out of range: want at most 1024 bytes of text")
	case len(m.Enrolment) != 0 && len(m.Enrolment) != cloud.EnrolmentSize:
		return refuse("enrolment", "is out of range: want 32 random bytes in base64")
	case m.Username == "" && m.Password != "":
		return refuse("username", "is missing, and there is a password: name the user")
	}
	return nil
}

// text says whether s has at most so many bytes and nothing but text.
func text(s string, most int) bool { return len(s) <= most && printable.Line(s) }

func (cl *Claim) seal(m message, id string) (storedClaim, error) {
	raw, err := json.Marshal(secrets{m.login, m.Enrolment})
	return storedClaim{OrganizationID: m.OrganizationID, Organization: m.Organization, Message: id,
		Signed:    len(m.SigningKeys) > 0,
		ClaimedAt: cl.o.Clock.Now().UTC().Truncate(time.Millisecond), Login: cl.o.Keys.Seal(current, raw)}, err
}

// store writes a claim, its organization, its keys, the event and the receipt, and
// then shows it.
func (cl *Claim) store(ctx context.Context, e cloud.Envelope, s storedClaim, signers eventlog.Stage, show func()) error {
	write := func(tx *store.Tx) error {
		if err := cl.o.Organization(tx, s.OrganizationID, s.Organization, s.ClaimedAt); err != nil {
			return err
		}
		if err := table.Put(tx, current, s); err != nil {
			return err
		}
		if err := cl.tell(tx, eventClaimed, map[string]any{"organization_id": s.OrganizationID, "organization": s.Organization}); err != nil {
			return err
		}
		return cl.o.Receipts.Answer(tx, e.ID)
	}
	return cl.o.Events.Commit(ctx, signers, eventlog.Stage{Write: write, Show: show})
}

// tell writes down what happened to the gateway.
func (cl *Claim) tell(tx *store.Tx, event string, details map[string]any) error {
	return cl.o.Events.Tell(tx, eventlog.Record{Type: event, Time: cl.o.Clock.Now(), Device: eventlog.GatewayDevice, Details: details})
}

// Release ends the claim: the gateway is nobody's, logs in as its configuration
// says, holds no key of its cloud, and shows a new code. What the organization has here stays, but for the
// spaces that were its own by the claim alone. by is who wanted it. It fails if
// that cannot be stored.
func (cl *Claim) Release(ctx context.Context, by string) error {
	cl.turn.Lock()
	defer cl.turn.Unlock()
	cl.mu.Lock()
	have := cl.stored
	cl.mu.Unlock()
	if have == nil {
		return nil
	}
	write := func(tx *store.Tx) error {
		if err := table.Delete(tx, current); err != nil {
			return err
		}
		return cl.tell(tx, eventReleased, map[string]any{"organization_id": have.OrganizationID, "organization": have.Organization, "by": by})
	}
	show := func() {
		cl.mu.Lock()
		cl.stored, cl.secrets = nil, secrets{}
		cl.mu.Unlock()
		cl.changed.Wake()
	}
	if err := cl.o.Events.Commit(ctx, cl.o.Signers.StageNone(), eventlog.Stage{Write: write, Show: show}); err != nil {
		return err
	}
	cl.o.LoginChanged()
	return nil
}
