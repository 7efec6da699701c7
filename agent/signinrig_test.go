package agent

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/device"
	"roomgate/agent/goldentest"
	"roomgate/agent/journal/journaltest"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	org      = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec0"
	otherOrg = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec1"
)

var network = netip.MustParsePrefix("192.0.2.7/32")

// people has an admin, a member of an organization, and one who is disabled.
const people = `
auth: {jwt: {lifetime: 12h, rotation: 720h}}
users:
  - {id: ada, email: Ada@example.com, name: Ada, role: admin}
  - {id: mel, email: mel@example.com, name: Mel, organization_id: ` + org + `}
  - {id: off, email: off@example.com, name: Off, enabled: false}
smtp: {url: "smtp://relay.test", from: "Rooms <rooms@example.com>"`

// relayRig is a building with a mail relay.
type relayRig struct {
	*rig
	relay *mailtest.Relay
	log   *journaltest.Log
}

// openRelayRig opens a building beside a relay. Trust is that of its clock.
func openRelayRig(t testing.TB, dir, trust string, o mailtest.Options) *relayRig {
	t.Helper()
	relay, err := mailtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, relay.CAPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	yaml := strings.NewReplacer("trust: always", "trust: "+trust, "poll: 2s", "poll: 1h").Replace(building) + people + ", ca_file: " + ca
	if o.Password != "" {
		yaml += ", username: gateway, password: " + o.Password
	}
	log := &journaltest.Log{}
	return &relayRig{openRig(t, rigOptions{dir: dir, yaml: yaml + "}\n", mail: relay.Dial, log: slog.New(slog.NewTextHandler(log, nil))}), relay, log}
}

// storedLetters is the table of package mail.
var storedLetters = store.NewTable[struct{ Sealed []byte }]("mails")

var sixDigits = regexp.MustCompile(`(?m)^ +([0-9]{6})`)

// code is the one-time password of the newest letter.
func (r *relayRig) code(t *testing.T, letters int) string {
	t.Helper()
	all, err := r.relay.Wait(t.Context(), letters)
	if err != nil || len(all) != letters {
		t.Fatalf("%d letters, want %d, %v", len(all), letters, err)
	}
	found := sixDigits.FindStringSubmatch(all[letters-1].Text)
	if found == nil {
		t.Fatalf("no code in %q", all[letters-1].Text)
	}
	return found[1]
}

func (r *relayRig) request(t *testing.T, email string) {
	t.Helper()
	if err := r.Access.RequestOTP(t.Context(), email, network); err != nil {
		t.Fatalf("request for %s: %v", email, err)
	}
}

// wantRefused wants a code not to be taken, with the one answer there is.
func (r *relayRig) wantRefused(t *testing.T, why, email, code string) {
	t.Helper()
	token, user, err := r.Access.VerifyOTP(t.Context(), email, code, network, "")
	if e := device.AsError(err); e == nil {
		t.Errorf("%s: %q, %v, %v", why, token, user, err)
	} else {
		goldentest.Values(t, why, goldentest.Pairs{"token": {token, ""}, "user": {user, (access.User{})},
			"Code":  {e.Code, problem.Unauthorized},
			"Error": {e.Error(), "otp is wrong, used or too old: correct it, or ask for a new one"}})
	}
}

// other is a code that is not this one.
func other(code string) string {
	if code == "123456" {
		return "654321"
	}
	return "123456"
}

func wantNoLetters(t *testing.T, r *rig) {
	t.Helper()
	_ = r.db.View(func(tx *store.Tx) error {
		if n := storedLetters.Len(tx); n != 0 {
			t.Errorf("%d letters wait", n)
		}
		return nil
	})
}

// token lets a user in without a letter.
func (r *relayRig) token(t *testing.T, id string) string {
	t.Helper()
	var ids []string
	err := r.db.View(func(tx *store.Tx) error {
		ring, err := store.NewTable[[]struct {
			ID string `json:"id"`
		}]("signing-keys").Get(tx, "ring")
		for _, k := range ring {
			ids = append(ids, k.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	token, err := auth.NewSigner(r.options.Config.Gateway.ID, "roomgate", r.keys, ids).Sign(auth.Token{ID: "signed-in", Kind: access.KindUser, Subject: id,
		Stamp: r.keys.Stamp(0, r.Access.User(id).Email), Issued: moment(r.Agent)(), Life: r.options.Config.Auth.JWT.Lifetime})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := r.Access.AuthenticateToken(token); err != nil || p.ID != id {
		t.Fatalf("the token of %s is of %+v, %v", id, p, err)
	}
	return token
}

// mailAdmins sends a text to those who look after an organization.
func mailAdmins(ctx context.Context, a *Agent, organizationID, subject, text string) error {
	letters := adminMail{a.Access, a.mail, a.options.Log}.letters(organizationID, subject, text)
	if len(letters) == 0 {
		return noAdmin()
	}
	return a.mail.Post(ctx, letters...)
}
