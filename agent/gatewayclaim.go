package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/loop"
	"roomgate/cloud"
	"roomgate/store"
)

// The states of the gateway's claim.
const (
	ClaimOff     = "off"     // nobody has to claim it: Reason says why
	ClaimWaiting = "waiting" // for somebody who brings its code to the cloud
	ClaimDone    = "claimed"
)

const (
	// codeShown is how long a claim code of the gateway is shown, and codeLife
	// how long it is taken: one that was scanned at the last moment is good for as
	// long again.
	codeShown = 30 * time.Minute
	codeLife  = 2 * codeShown
)

// wrongCodes is how many wrong codes the cloud may bring.
var wrongCodes = auth.Rate{Burst: 10, Every: time.Minute}

// GatewayClaim is how the gateway stands with its cloud: whom it belongs to, or
// the code by which somebody claims it. The code is a secret until it is used.
type GatewayClaim struct {
	Identity
	State string `json:"state"` // ClaimOff, ClaimWaiting or ClaimDone
	// Code, while it waits, and what leads a phone to where it is taken.
	Code     string `json:"claim_code,omitempty"`
	URL      string `json:"url,omitempty"`
	AtCloud  bool   `json:"-"`                      // the page is the cloud's, not the gateway's own
	ExpiresS int64  `json:"expires_in_s,omitempty"` // until another one is shown

	OrganizationID string    `json:"organization_id,omitempty"`
	Organization   string    `json:"organization,omitempty"` // its name
	ClaimedAt      time.Time `json:"-"`                      // zero: not yet

	Reason         string `json:"reason,omitempty"`
	CloudConnected bool   `json:"cloud_connected"`
}

// storedClaim is whom the gateway belongs to.
type storedClaim struct {
	OrganizationID string    `json:"organization_id"`
	Organization   string    `json:"organization"`
	ClaimedAt      time.Time `json:"claimed_at"`
	Message        string    `json:"message"` // that brought it
	Login          []byte    `json:"login"`   // cloudLogin, encrypted under the device secret
}

// cloudLogin is the gateway's own user at the cloud's broker.
type cloudLogin struct {
	Username string `json:"username"` // empty: that of the configuration stays
	Password string `json:"password"`
}

// currentClaim is the one row of gatewayClaims, and the place of its login.
const currentClaim = "gateway-claim"

// gatewayCode is a code that is or was shown. It is kept in memory only: a
// restart, and so a card in another board, ends it.
type gatewayCode struct {
	text string
	made time.Time // by the monotonic clock
}

// claimBook is the gateway's claim and its codes.
type claimBook struct {
	turn    sync.Mutex // of who changes the claim
	mu      sync.Mutex // of what follows, never held for long
	stored  *storedClaim
	login   cloudLogin
	codes   []gatewayCode // at most two, the one that is shown last
	wrong   auth.Budget
	changed loop.Broadcast
}

// claimOff is why nobody has to claim the gateway, empty if somebody has to:
// the configuration names a cloud, and no user of this gateway's there.
func (a *Agent) claimOff() string {
	switch c := a.config.Cloud; {
	case c.URL == "":
		return "it has no cloud: name one with roomgate setup, or as cloud.url"
	case c.ClaimURL == "" && (c.Username != "" || c.ClientCertificate != ""):
		return "its configuration says who it is at the cloud"
	}
	return ""
}

// GatewayClaim returns how the gateway's claim stands. While it waits, a code
// that was shown for long enough gives way to a new one.
func (a *Agent) GatewayClaim() GatewayClaim {
	g := GatewayClaim{Identity: a.Identity(), State: ClaimOff, Reason: a.claimOff(), CloudConnected: a.Online()}
	if g.Reason != "" {
		return g
	}
	b := &a.claimed
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.stored; s != nil {
		g.State, g.OrganizationID, g.Organization, g.ClaimedAt = ClaimDone, s.OrganizationID, s.Organization, s.ClaimedAt
		return g
	}
	code := b.shown(time.Now())
	g.State, g.Code = ClaimWaiting, code.text
	g.ExpiresS = int64(time.Until(code.made.Add(codeShown)) / time.Second)
	g.URL, g.AtCloud = a.claimLink(code.text), a.config.Cloud.ClaimURL != ""
	return g
}

// claimant is the organization that the gateway belongs to, empty for none.
func (a *Agent) claimant() string {
	if a.claimOff() != "" {
		return ""
	}
	a.claimed.mu.Lock()
	defer a.claimed.mu.Unlock()
	if a.claimed.stored == nil {
		return ""
	}
	return a.claimed.stored.OrganizationID
}

// ClaimChanged returns a channel that is closed when the claim is another. Take
// it before asking for the claim, or a change may be missed.
func (a *Agent) ClaimChanged() <-chan struct{} { return a.claimed.changed.Wait() }

// shown is the code to be shown now. The caller has the lock.
func (b *claimBook) shown(now time.Time) gatewayCode {
	b.codes = slices.DeleteFunc(b.codes, func(c gatewayCode) bool { return now.Sub(c.made) >= codeLife })
	if n := len(b.codes); n == 0 || now.Sub(b.codes[n-1].made) >= codeShown {
		b.codes = append(b.codes, gatewayCode{cloud.NewCode(), now})
	}
	return b.codes[len(b.codes)-1]
}

// claimLink is where a phone that scans the code goes: to the cloud's page, or
// to the gateway's own. Empty if no other machine reaches that.
func (a *Agent) claimLink(code string) string {
	u, err := url.Parse(cmp.Or(a.config.Cloud.ClaimURL, a.ownPage("/claim")))
	if err != nil || u.Host == "" {
		return ""
	}
	q := u.Query()
	q.Set("gateway", a.config.Gateway.ID)
	q.Set("code", code)
	u.RawQuery = q.Encode()
	return u.String()
}

// ownPage is the address of a page of the gateway on the building's network.
func (a *Agent) ownPage(path string) string {
	at := a.Network().HTTP
	if len(at.Addresses) == 0 || at.Port == 0 {
		return ""
	}
	scheme := "http"
	if at.TLS {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(nearestAddress(at.Addresses), strconv.Itoa(at.Port)) + path
}

// nearestAddress is the address that the building most likely reaches: the one
// that the way out begins at, else the first of version 4.
func nearestAddress(all []string) string {
	if conn, err := net.Dial("udp4", "192.0.2.1:9"); err == nil { // sends nothing (RFC 5737 section 3)
		own, _, _ := net.SplitHostPort(conn.LocalAddr().String())
		_ = conn.Close() // nothing was said on it
		if slices.Contains(all, own) {
			return own
		}
	}
	for _, text := range all {
		if ip, err := netip.ParseAddr(text); err == nil && ip.Is4() {
			return text
		}
	}
	return all[0]
}

// cloudLogin is with whom the gateway logs in at the cloud.
func (a *Agent) cloudLogin() (username, password string, err error) {
	a.claimed.mu.Lock()
	own := a.claimed.login
	a.claimed.mu.Unlock()
	if own.Username != "" && a.claimOff() == "" {
		return own.Username, own.Password, nil
	}
	c := a.config.Cloud
	if password, err = c.Password.Reveal(c.PasswordFile); err != nil {
		return "", "", fmt.Errorf("cloud password: %w", err)
	}
	return c.Username, password, nil
}

// loadClaim reads whom the gateway belongs to. What was sealed under another
// device secret is another machine's: a copied card is not claimed.
func (a *Agent) loadClaim(tx *store.Tx) error {
	s, err := gatewayClaims.Get(tx, currentClaim)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	raw, err := a.signIn.keys.Open(currentClaim, s.Login)
	if err == nil {
		err = json.Unmarshal(raw, &a.claimed.login)
	}
	if err != nil {
		a.log.Warn("whom this gateway belongs to was stored on other hardware and counts no more: claim it anew, roomgate claim shows the code")
		return nil
	}
	a.claimed.stored = &s
	return nil
}
