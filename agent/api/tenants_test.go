package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/access"
	"roomgate/agent/config"
	"roomgate/agent/mail/mailtest"
)

const (
	auroraOrg   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac0" // owns Aurora, as its customer
	borealisOrg = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac1" // owns Borealis in a building with tenants
)

// tenants gives each room to an organization, people to the building, a mail
// relay and a push gateway.
func tenants(c *config.Config) {
	c.Spaces[1].OrganizationID = borealisOrg
	c.Auth.JWT.Lifetime = 30 * time.Minute
	c.SMTP = config.SMTP{URL: "smtp://relay.test", From: "Rooms <rooms@example.com>"}
	c.Push = config.Push{URL: "https://push.test", Topic: "rooms-{user_id}"}
	c.Users = []config.Person{
		{ID: "ada", Email: "ada@example.com", Name: "Ada", Role: "admin", Enabled: true},
		{ID: "ann", Email: "ann@example.com", Name: "Ann", Role: "admin", OrganizationID: auroraOrg, Enabled: true},
		{ID: "mel", Email: "mel@example.com", Name: "Mel", Role: "member", OrganizationID: auroraOrg, Enabled: true},
		{ID: "bob", Email: "bob@example.com", Name: "Bob", Role: "admin", OrganizationID: borealisOrg, Enabled: true},
	}
}

// startRelay starts the mail relay of a building.
func (b *building) startRelay(o *agent.Options) {
	relay, err := mailtest.Start(mailtest.Options{Pipe: true})
	if err != nil {
		b.t.Fatal(err)
	}
	ca := filepath.Join(b.t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, relay.CAPEM, 0o600); err != nil {
		b.t.Fatal(err)
	}
	o.Config.SMTP.CAFile, o.MailDial, b.relay = ca, relay.Dial, relay
}

var sixDigits = regexp.MustCompile(`(?m)^ +([0-9]{6})`)

// code asks for a one-time password and reads it from the letter.
func (b *building) code(t *testing.T, email string) string {
	t.Helper()
	before := len(b.relay.Letters())
	if got := b.net.do(t, "POST", "/api/v1/auth/otp/request", `{"email":"`+email+`"}`); got.StatusCode != 200 {
		t.Fatalf("request for %s: %d %s", email, got.StatusCode, got.body)
	}
	letters, err := b.relay.Wait(t.Context(), before+1)
	if err != nil {
		t.Fatal(err)
	}
	return sixDigits.FindStringSubmatch(letters[before].Text)[1]
}

// signIn returns the token of a user.
func (b *building) signIn(t *testing.T, email string) string {
	t.Helper()
	got := b.net.do(t, "POST", "/api/v1/auth/otp/verify", `{"email":"`+email+`","otp":"`+b.code(t, email)+`"}`)
	var a struct{ Data signedIn }
	if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.StatusCode != 200 || a.Data.User.Email != email {
		t.Fatalf("verify for %s: %d %s", email, got.StatusCode, got.body)
	}
	return a.Data.AccessToken
}

// orgKey makes a key of an organization, and returns the header with it.
func (b *building) orgKey(t *testing.T, organization string, permissions ...string) (key access.Key, header string) {
	t.Helper()
	key, secret, err := b.agent.Access.CreateOrgKey(t.Context(), organization, "app", permissions, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return key, "X-Org-Api-Key: " + secret
}

// from asks without a connection, each time from another address, so that
// wrong tries are not counted together.
func (b *building) from(n int, method, path string, parts ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := newRequest(b.t, method, path, parts...)
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.RemoteAddr = strings.Join([]string{"198.51", itoa(n / 250), itoa(n%250 + 1)}, ".") + ":1"
	w := httptest.NewRecorder()
	b.server.Handler().ServeHTTP(w, r)
	return w
}

func itoa(n int) string { body, _ := json.Marshal(n); return string(body) }
