package claim

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"roomgate/agent/auth"
	"roomgate/agent/doorsign"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// gatewayDevice is what events about the gateway itself name as the device.
const gatewayDevice = "gateway"

// message is what is sealed in down/claim.
type message struct {
	OrganizationID string `json:"organization_id"`
	Organization   string `json:"organization"`
	// SigningKeys are those that the cloud signs with from now on.
	SigningKeys []doorsign.Key `json:"signing_keys"`
	login
}

// Take lets who has the code claim the gateway, once, and answers with a receipt.
// The code itself is never sent: what it opens was sealed by somebody who has
// it. An error means that nothing was stored.
func (b *Claim) Take(ctx context.Context, e cloud.Envelope) error {
	b.turn.Lock()
	defer b.turn.Unlock()
	err := b.apply(ctx, e)
	switch refusal := problem.As(err); {
	case err == nil:
		return nil
	case refusal == nil, refusal.Code == problem.Full, refusal.Code == problem.Internal:
		return err // not stored, so not acknowledged
	default:
		return b.o.Refuse(ctx, e, refusal)
	}
}

// apply stores a claim with its receipt, and only then uses it. The caller has
// the turn.
func (b *Claim) apply(ctx context.Context, e cloud.Envelope) error {
	if why := b.off(); why != "" {
		return problem.New(problem.Conflict, "", "this gateway cannot be claimed: %s", why)
	}
	b.mu.Lock()
	have := b.stored
	b.mu.Unlock()
	switch {
	case have != nil && have.Message == e.ID:
		return b.answerAgain(ctx, e)
	case have != nil:
		return problem.New(problem.Conflict, "", "this gateway is claimed already: end that with roomgate claim --release at the gateway")
	}
	m, err := b.open(e.Data)
	if err != nil {
		return err
	}
	s, err := b.seal(m, e.ID)
	if err != nil {
		return err
	}
	signers, err := b.signers(m)
	if err != nil {
		return err
	}
	err = b.store(ctx, e, s, signers, func() {
		b.mu.Lock()
		b.stored, b.login, b.codes = &s, m.login, nil
		b.mu.Unlock()
		b.changed.Wake()
	})
	if err != nil {
		return err
	}
	b.o.Log.Info("this gateway was claimed", "organization", s.OrganizationID, "own_user", m.Username != "")
	if m.Username != "" {
		b.o.LoginChanged()
	}
	return nil
}

// signers makes the keys of a claim those of the gateway.
func (b *Claim) signers(m message) (eventlog.Stage, error) {
	if len(m.SigningKeys) == 0 {
		return b.o.Signers.StageNone(), nil
	}
	s, err := b.o.Signers.Stage(m.SigningKeys)
	if refusal := problem.As(err); refusal != nil {
		under := *refusal
		under.Field = "signing_keys" + under.Field
		return s, &under
	}
	return s, err
}

// open is what was sealed with a code that is or was just shown.
func (b *Claim) open(data []byte) (m message, err error) {
	var outer struct {
		Sealed []byte `json:"sealed"`
	}
	if err := json.Unmarshal(data, &outer); err != nil || len(outer.Sealed) == 0 {
		return m, problem.New(problem.Invalid, "sealed", "is missing or not base64: seal the claim with its code")
	}
	raw, err := b.unseal(outer.Sealed)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, problem.New(problem.Invalid, "sealed", "holds no claim: want a JSON object")
	}
	return m, m.check()
}

func (b *Claim) unseal(sealed []byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, now := b.wrong, b.o.Moment()
	if wait, ok := b.wrong.Take(wrongCodes, now); !ok {
		return nil, problem.New(problem.Unavailable, "", "too many wrong claim codes came: try again in %v", wait.Truncate(time.Second)+time.Second)
	}
	for _, code := range b.codes {
		if time.Since(code.made) >= codeLife {
			continue
		}
		if raw, err := cloud.Unseal(code.text, cloud.Topics{Gateway: b.o.ID}.Down("claim"), sealed); err == nil {
			b.wrong = before
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
	case m.Organization == "" || !printable(m.Organization, 100):
		return refuse("organization", "is the name: want 1 to 100 bytes of text")
	case !printable(m.Username, 128):
		return refuse("username", "is out of range: want at most 128 bytes of text")
	case !printable(m.Password, 1024):
		return refuse("password", "is out of range: want at most 1024 bytes of text")
	case m.Username == "" && m.Password != "":
		return refuse("username", "is missing, and there is a password: name the user")
	}
	return nil
}

// printable says whether a text has at most so many bytes and nothing but text.
func printable(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func (b *Claim) seal(m message, id string) (storedClaim, error) {
	raw, err := json.Marshal(m.login)
	return storedClaim{OrganizationID: m.OrganizationID, Organization: m.Organization, Message: id,
		Signed:    len(m.SigningKeys) > 0,
		ClaimedAt: b.o.Clock.Now().UTC().Truncate(time.Millisecond), Login: b.o.Keys.Seal(current, raw)}, err
}

// store writes a claim, its organization, its keys, the event and the receipt, and
// then shows it.
func (b *Claim) store(ctx context.Context, e cloud.Envelope, s storedClaim, signers eventlog.Stage, show func()) error {
	write := func(tx *store.Tx) error {
		if err := b.o.Organization(tx, s.OrganizationID, s.Organization, s.ClaimedAt); err != nil {
			return err
		}
		if err := table.Put(tx, current, s); err != nil {
			return err
		}
		if err := b.tell(tx, "gatewayClaimed", map[string]any{"organization_id": s.OrganizationID, "organization": s.Organization}); err != nil {
			return err
		}
		return b.o.Answer(tx, e.ID)
	}
	return b.o.Events.Commit(ctx, signers, eventlog.Stage{Write: write, Show: show})
}

// tell writes down what happened to the gateway.
func (b *Claim) tell(tx *store.Tx, event string, details map[string]any) error {
	return b.o.Events.Tell(tx, eventlog.Record{Type: event, Time: b.o.Clock.Now(), Device: gatewayDevice, Details: details})
}

// answerAgain answers the message that brought the claim again.
func (b *Claim) answerAgain(ctx context.Context, e cloud.Envelope) error {
	return b.o.Events.Update(ctx, func(tx *store.Tx) error { return b.o.Answer(tx, e.ID) })
}

// Release ends the claim: the gateway is nobody's, logs in as its configuration
// says, holds no key of its cloud, and shows a new code. What the organization has here stays, but for the
// spaces that were its own by the claim alone. by is who wanted it. It fails if
// that cannot be stored.
func (b *Claim) Release(ctx context.Context, by string) error {
	b.turn.Lock()
	defer b.turn.Unlock()
	b.mu.Lock()
	have := b.stored
	b.mu.Unlock()
	if have == nil {
		return nil
	}
	write := func(tx *store.Tx) error {
		if err := table.Delete(tx, current); err != nil {
			return err
		}
		return b.tell(tx, "gatewayReleased", map[string]any{"organization_id": have.OrganizationID, "organization": have.Organization, "by": by})
	}
	show := func() {
		b.mu.Lock()
		b.stored, b.login = nil, login{}
		b.mu.Unlock()
		b.changed.Wake()
	}
	if err := b.o.Events.Commit(ctx, b.o.Signers.StageNone(), eventlog.Stage{Write: write, Show: show}); err != nil {
		return err
	}
	b.o.LoginChanged()
	return nil
}
