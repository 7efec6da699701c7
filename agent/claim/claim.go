// Package claim keeps the gateway's owner: nobody, while it shows a code
// by which somebody claims it through the cloud, or one organization, until that
// is released.
package claim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/cloudkey"
	"roomgate/agent/cloudlink"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/cloud"
	"roomgate/store"
)

// The states of the gateway's claim.
const (
	Off     = "off"     // nobody has to claim it: Reason says why
	Waiting = "waiting" // for somebody who brings its code to the cloud
	Done    = "claimed"
)

const (
	// codeShown is how long a claim code is shown, and codeLife how long it is
	// taken: one that was scanned at the last moment is good for as long again.
	codeShown = 30 * time.Minute
	codeLife  = 2 * codeShown
)

// wrongCodes is how many wrong codes the cloud may bring.
var wrongCodes = auth.Rate{Burst: 10, Every: time.Minute}

// Options are what the claim stands on, and what it asks the building.
type Options struct {
	DB     *store.DB
	Events *eventlog.Log
	Clock  *clock.Clock
	Keys   *auth.Keys // of this hardware: who copies the card has others
	Log    *slog.Logger
	// Signers are the keys that the owner signs with: they come with the claim
	// and go with it.
	Signers *cloudkey.Signers

	Cloud     Settings
	ID, Name  string // the gateway's
	Simulated bool   // no hardware is below it

	// Moment is now, by which wrong codes are counted.
	Moment func() auth.Moment
	// Online says whether the cloud is reached.
	Online func() bool
	// Page is the address of the gateway's own page about its claim, empty if no
	// other machine reaches it.
	Page func() string
	// Organization stores the organization that a claim names, unless it is known;
	// it may refuse.
	Organization func(tx *store.Tx, id, name string, claimed time.Time) error
	Receipts     cloudlink.Receipts // answer a message that brings a claim
	// LoginChanged is called after Login has another answer; it must not wait.
	LoginChanged func()
}

// Settings say what is configured of the cloud.
type Settings struct {
	URL string // of the broker; empty: there is no cloud
	// Page is the address of the cloud's page at which the gateway's code is taken;
	// empty: the gateway's own page shows it. With one the gateway can be claimed
	// although it has a user.
	Page        string
	Username    string // the configured user at the broker; empty: there is none
	Certificate bool   // the gateway shows one of its own to the broker
	// Password is that of the configured user; nil: there is none.
	Password func() (string, error)
}

// Status is how the gateway stands with its cloud: its owner, or the code
// by which somebody claims it. The code is a secret until it is used.
type Status struct {
	ID        string `json:"gateway_id"`
	Name      string `json:"name"`
	Simulated bool   `json:"simulated"`
	State     string `json:"state"` // Off, Waiting or Done
	// Code, while it waits and if it may be seen, and what leads a phone to where it is taken.
	Code     string `json:"claim_code,omitempty"`
	URL      string `json:"url,omitempty"`
	AtCloud  bool   `json:"-"`                      // the page is the cloud's, not the gateway's own
	ExpiresS int64  `json:"expires_in_s,omitempty"` // until another one is shown

	OrganizationID string    `json:"organization_id,omitempty"`
	Organization   string    `json:"organization,omitempty"` // its name
	ClaimedAt      time.Time `json:"-"`                      // zero: not yet

	// Reason is why nobody has to claim it, or why Code is not told.
	Reason         string `json:"reason,omitempty"`
	CloudConnected bool   `json:"cloud_connected"`
}

// table holds the claim in one row, current.
var table = store.NewTable[storedClaim]("gateway-claim")

// current is the one row of table, and the place of its login.
const current = "gateway-claim"

// Buckets names the table in the store.
func Buckets() []string { return []string{table.Bucket()} }

// Forget ends the claim in a database that becomes another gateway's.
func Forget(tx *store.Tx) error { return table.Delete(tx, current) }

// storedClaim is the gateway's owner.
type storedClaim struct {
	OrganizationID string    `json:"organization_id"`
	Organization   string    `json:"organization"`
	ClaimedAt      time.Time `json:"claimed_at"`
	Message        string    `json:"message"`          // that brought it
	Login          []byte    `json:"login"`            // secrets, encrypted under the device secret
	Signed         bool      `json:"signed,omitempty"` // keys came with it
}

// login is the gateway's own user at the cloud's broker.
type login struct {
	Username string `json:"username"` // empty: that of the configuration stays
	Password string `json:"password"`
}

// secrets are what a claim brings and nobody may see.
type secrets struct {
	login
	Enrolment []byte `json:"enrolment,omitempty"`
}

// shownCode is a code that is or was shown. It is kept in memory only: a
// restart, and so a card in another board, ends it.
type shownCode struct {
	text string
	made time.Time // by the monotonic clock
}

// Claim is the gateway's owner, and the codes by which somebody claims it. It may
// be used by many.
type Claim struct {
	o       Options
	turn    sync.Mutex // of who changes the claim
	mu      sync.Mutex // of what follows, never held for long
	stored  *storedClaim
	secrets secrets
	codes   []shownCode // at most two, the one that is shown last
	wrong   auth.Budget
	changed loop.Broadcast
	// shownUntil is when the network stops to see the code.
	shownUntil time.Time
}

// Open reads the owner.
func Open(_ context.Context, o Options) (*Claim, error) {
	cl := &Claim{o: o}
	return cl, o.DB.View(cl.load)
}

// load reads the stored claim. What was sealed under another device secret is
// another machine's: a copied card is not claimed.
func (cl *Claim) load(tx *store.Tx) error {
	s, err := table.Get(tx, current)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	raw, err := cl.o.Keys.Open(current, s.Login)
	if err == nil {
		err = json.Unmarshal(raw, &cl.secrets)
	}
	if err != nil {
		cl.o.Log.Warn("the stored claim belongs to other hardware: claim the gateway again, roomgate claim shows the code")
		return nil
	}
	cl.stored = &s
	if s.Signed {
		cl.o.Signers.Expect()
	}
	return nil
}

// off is why nobody has to claim the gateway, empty if somebody has to: the
// configuration names a cloud, and no user of this gateway's there.
func (cl *Claim) off() string {
	switch c := cl.o.Cloud; {
	case c.URL == "":
		return "it has no cloud: name one with roomgate setup, or as cloud.url"
	case c.Page == "" && (c.Username != "" || c.Certificate):
		return "its configuration says who it is at the cloud"
	}
	return ""
}

// Status returns how the gateway's claim stands. While it waits, a code that was
// shown for long enough gives way to a new one.
func (cl *Claim) Status() Status {
	g := Status{ID: cl.o.ID, Name: cl.o.Name, Simulated: cl.o.Simulated, State: Off, Reason: cl.off(), CloudConnected: cl.o.Online()}
	if g.Reason != "" {
		return g
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if s := cl.stored; s != nil {
		g.State, g.OrganizationID, g.Organization, g.ClaimedAt = Done, s.OrganizationID, s.Organization, s.ClaimedAt
		return g
	}
	code := cl.code(time.Now())
	g.State, g.Code = Waiting, code.text
	g.ExpiresS = int64(time.Until(code.made.Add(codeShown)) / time.Second)
	g.URL, g.AtCloud = cl.link(code.text), cl.o.Cloud.Page != ""
	return g
}

// Organization is the id of the one that the gateway belongs to, empty for none.
func (cl *Claim) Organization() string {
	if cl.off() != "" {
		return ""
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.stored == nil {
		return ""
	}
	return cl.stored.OrganizationID
}

// Changed returns a channel that is closed when the claim is another. Take it
// before asking for the claim, or a change may be missed.
func (cl *Claim) Changed() <-chan struct{} { return cl.changed.Wait() }

// code is the one to be shown now. The caller has the lock.
func (cl *Claim) code(now time.Time) shownCode {
	cl.codes = slices.DeleteFunc(cl.codes, func(c shownCode) bool { return now.Sub(c.made) >= codeLife })
	if n := len(cl.codes); n == 0 || now.Sub(cl.codes[n-1].made) >= codeShown {
		cl.codes = append(cl.codes, shownCode{cloud.NewCode(), now})
	}
	return cl.codes[len(cl.codes)-1]
}

// link is where a phone that scans the code goes: to the cloud's page, or to the
// gateway's own. Empty if no other machine reaches that.
func (cl *Claim) link(code string) string {
	page := cl.o.Cloud.Page
	if page == "" {
		page = cl.o.Page()
	}
	u, err := url.Parse(page)
	if err != nil || u.Host == "" {
		return ""
	}
	q := u.Query()
	q.Set("gateway", cl.o.ID)
	q.Set("code", code)
	u.RawQuery = q.Encode()
	return u.String()
}

// Login is the user name and password that the gateway logs in with at the cloud:
// those of its claim, or else those of its configuration. It fails if the configured
// password cannot be read.
func (cl *Claim) Login() (username, password string, err error) {
	cl.mu.Lock()
	own := cl.secrets.login
	cl.mu.Unlock()
	if own.Username != "" && cl.off() == "" {
		return own.Username, own.Password, nil
	}
	if cl.o.Cloud.Password != nil {
		if password, err = cl.o.Cloud.Password(); err != nil {
			return "", "", fmt.Errorf("cloud password: %w", err)
		}
	}
	return cl.o.Cloud.Username, password, nil
}
