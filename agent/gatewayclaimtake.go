package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"roomgate/cloud"
	"roomgate/store"
)

// downClaim is what is sealed in down/claim.
type downClaim struct {
	OrganizationID string `json:"organization_id"`
	Organization   string `json:"organization"`
	cloudLogin
}

// takeClaim lets who has the code claim the gateway, once, and answers with a
// receipt. The code itself is never sent: what it opens was sealed by somebody
// who has it.
func (a *Agent) takeClaim(ctx context.Context, e cloud.Envelope) error {
	a.claimed.turn.Lock()
	defer a.claimed.turn.Unlock()
	err := a.applyClaim(ctx, e)
	switch refusal := AsError(err); {
	case err == nil:
		return nil
	case refusal.Code == Full, refusal.Code == Internal:
		return err // not stored, so not acknowledged
	default:
		return a.refuseMessage(ctx, e, refusal)
	}
}

// applyClaim stores a claim with its receipt, and only then uses it. The caller
// has the turn.
func (a *Agent) applyClaim(ctx context.Context, e cloud.Envelope) error {
	if why := a.claimOff(); why != "" {
		return refuse(Conflict, "", "this gateway is not to be claimed: %s", why)
	}
	b := &a.claimed
	b.mu.Lock()
	have := b.stored
	b.mu.Unlock()
	switch {
	case have != nil && have.Message == e.ID:
		return a.sayClaimed(ctx, e)
	case have != nil:
		return refuse(Conflict, "", "this gateway is claimed already: end that with roomgate claim --release at the gateway")
	}
	d, err := a.openClaim(e.Data)
	if err != nil {
		return err
	}
	s, err := a.sealClaim(d, e.ID)
	if err != nil {
		return err
	}
	err = a.storeClaim(ctx, e, s, func() {
		b.mu.Lock()
		b.stored, b.login, b.codes = &s, d.cloudLogin, nil
		b.mu.Unlock()
		b.changed.Wake()
	})
	if err != nil {
		return err
	}
	a.log.Info("this gateway was claimed", "organization", s.OrganizationID, "own_user", d.Username != "")
	if d.Username != "" {
		a.link.Renew()
	}
	return nil
}

// openClaim is what was sealed with a code that is or was just shown.
func (a *Agent) openClaim(data []byte) (d downClaim, err error) {
	var message struct {
		Sealed []byte `json:"sealed"`
	}
	if err := json.Unmarshal(data, &message); err != nil || len(message.Sealed) == 0 {
		return d, refuse(Invalid, "sealed", "is missing or not base64: seal the claim with its code")
	}
	raw, err := a.unseal(message.Sealed)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, refuse(Invalid, "sealed", "holds no claim: want a JSON object")
	}
	return d, d.check()
}

func (a *Agent) unseal(sealed []byte) ([]byte, error) {
	b := &a.claimed
	b.mu.Lock()
	defer b.mu.Unlock()
	before, now := b.wrong, a.moment()
	if wait, ok := b.wrong.Take(wrongCodes, now); !ok {
		return nil, refuse(Unavailable, "", "too many wrong claim codes came: try again in %v", wait.Truncate(time.Second)+time.Second)
	}
	for _, code := range b.codes {
		if time.Since(code.made) >= codeLife {
			continue
		}
		if raw, err := cloud.Unseal(code.text, a.topics.Down("claim"), sealed); err == nil {
			b.wrong = before
			return raw, nil
		}
	}
	return nil, refuse(Forbidden, "", "the claim code is wrong, used or too old: take the one that the gateway shows now")
}

// check refuses what cannot be used.
func (d *downClaim) check() error {
	d.Organization = strings.TrimSpace(d.Organization)
	switch {
	case !uuidPattern.MatchString(d.OrganizationID):
		return refuse(Invalid, "organization_id", "is not a UUID in small letters")
	case d.Organization == "" || !printable(d.Organization, 100):
		return refuse(Invalid, "organization", "is the name: want 1 to 100 bytes of text")
	case !printable(d.Username, 128):
		return refuse(Invalid, "username", "is out of range: want at most 128 bytes of text")
	case !printable(d.Password, 1024):
		return refuse(Invalid, "password", "is out of range: want at most 1024 bytes of text")
	case d.Username == "" && d.Password != "":
		return refuse(Invalid, "username", "is missing, and there is a password: name the user")
	}
	return nil
}

// printable says whether a text has at most so many bytes and nothing but text.
func printable(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func (a *Agent) sealClaim(d downClaim, message string) (storedClaim, error) {
	raw, err := json.Marshal(d.cloudLogin)
	return storedClaim{OrganizationID: d.OrganizationID, Organization: d.Organization, Message: message,
		ClaimedAt: a.Now().UTC().Truncate(time.Millisecond), Login: a.signIn.keys.Seal(currentClaim, raw)}, err
}

// storeClaim writes a claim, its organization, the event and the receipt, and
// then shows it.
func (a *Agent) storeClaim(ctx context.Context, e cloud.Envelope, s storedClaim, show func()) error {
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		o, err := organizations.Get(tx, s.OrganizationID)
		switch {
		case errors.Is(err, store.ErrNotFound) && organizations.Len(tx) >= maxOrganizations:
			return refuse(Conflict, "organization_id", "is new, and there are %d organizations, the most that a gateway keeps", maxOrganizations)
		case errors.Is(err, store.ErrNotFound):
			o = Organization{ID: s.OrganizationID, Name: s.Organization, CreatedAt: s.ClaimedAt}
		case err != nil:
			return err
		case o.Name == o.ID: // so far only the configuration names it
			o.Name = s.Organization
		}
		if err := organizations.Put(tx, o.ID, o); err != nil {
			return err
		}
		if err := gatewayClaims.Put(tx, currentClaim, s); err != nil {
			return err
		}
		if err := a.tellGateway(tx, "gatewayClaimed", map[string]any{"organization_id": s.OrganizationID, "organization": s.Organization}); err != nil {
			return err
		}
		return a.pushReceipt(tx, Command{Via: ViaMQTT}, done(e.ID))
	}, show)
}

// sayClaimed answers the message that brought the claim again.
func (a *Agent) sayClaimed(ctx context.Context, e cloud.Envelope) error {
	return a.Events.Update(ctx, func(tx *store.Tx) error { return a.pushReceipt(tx, Command{Via: ViaMQTT}, done(e.ID)) })
}

// ReleaseClaim ends the claim: the gateway is nobody's, logs in as its
// configuration says, and shows a new code. What the organization has here
// stays, but for the spaces that were its own by the claim alone. by is who wanted it.
func (a *Agent) ReleaseClaim(ctx context.Context, by string) error {
	b := &a.claimed
	b.turn.Lock()
	defer b.turn.Unlock()
	b.mu.Lock()
	have := b.stored
	b.mu.Unlock()
	if have == nil {
		return nil
	}
	err := a.Events.Update(ctx, func(tx *store.Tx) error {
		if err := gatewayClaims.Delete(tx, currentClaim); err != nil {
			return err
		}
		return a.tellGateway(tx, "gatewayReleased", map[string]any{"organization_id": have.OrganizationID, "organization": have.Organization, "by": by})
	}, func() {
		b.mu.Lock()
		b.stored, b.login = nil, cloudLogin{}
		b.mu.Unlock()
		b.changed.Wake()
	})
	if err != nil {
		return err
	}
	if a.link != nil {
		a.link.Renew()
	}
	return nil
}
