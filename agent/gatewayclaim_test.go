package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/claim"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/cloud"
	"roomgate/cloud/backend"
)

const acme = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec0"

const claimable = `
gateway: {id: test}
clock: {trust: always}
http: {listen: '192.0.2.7:8081'}
cloud: {url: 'mqtt://cloud', acks: broker}
`

// claimRig is a building that is to be claimed, below a cloud that notes with
// whom it logs in.
type claimRig struct {
	*rig
	heaven  *heaven
	publish func(string, bool, cloud.Envelope)
	dir     string
	more    string // of the configuration

	mu     sync.Mutex
	logins []string
}

func startClaimRig(t *testing.T) *claimRig {
	t.Helper()
	c := &claimRig{dir: t.TempDir()}
	c.heaven, c.publish = openHeaven(t)
	c.start(t)
	return c
}

func (c *claimRig) start(t *testing.T) {
	t.Helper()
	c.rig = startRig(t, rigOptions{yaml: claimable + c.more, dir: c.dir, dial: c.dial})
	c.wait(5 * time.Second)
}

func (c *claimRig) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.heaven.dial(ctx, network, address)
	return &loginReader{Conn: conn, rig: c}, err
}

// loginReader notes who logs in by the first packet that is sent.
type loginReader struct {
	net.Conn
	rig  *claimRig
	once sync.Once
}

func (l *loginReader) Write(p []byte) (int, error) {
	l.once.Do(func() {
		packet, err := packets.ReadPacket(bytes.NewReader(p))
		hello, ok := packet.(*packets.ConnectPacket)
		if err != nil || !ok {
			l.rig.t.Errorf("the first packet is %v, %v", packet, err)
			return
		}
		l.rig.mu.Lock()
		defer l.rig.mu.Unlock()
		l.rig.logins = append(l.rig.logins, hello.Username+"/"+string(hello.Password))
	})
	return l.Conn.Write(p)
}

// loggedIn are the logins since the last look.
func (c *claimRig) loggedIn() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.logins = nil }()
	return c.logins
}

var acmeClaim = backend.Claim{OrganizationID: acme, Organization: "Acme", Username: "roomgate-test", Password: "a-secret-of-test"}

// bring brings a code to the cloud, and returns the last receipt.
func (c *claimRig) bring(id, code string, whose backend.Claim) device.Receipt {
	c.t.Helper()
	sealed, err := backend.SealClaim("test", code, whose)
	if err != nil {
		c.t.Fatal(err)
	}
	raw, _ := json.Marshal(sealed)
	return c.send(id, string(raw))
}

func (c *claimRig) send(id, data string) (last device.Receipt) {
	c.t.Helper()
	c.publish("claim", false, cloud.Envelope{ID: id, Source: "backend", Type: "roomgate.claim", Time: time.Now(), Data: json.RawMessage(data)})
	c.wait(5 * time.Second)
	for _, m := range c.heaven.taken("receipt") {
		var r device.Receipt
		if err := json.Unmarshal(m.Data, &r); err != nil {
			c.t.Error(err)
		}
		if r.CommandID == id {
			last = r
		}
	}
	return last
}

func (c *claimRig) wantState(what, want string) claim.Status {
	c.t.Helper()
	g := c.Claim.Status()
	if g.State != want {
		c.t.Errorf("%s: it is %s, want %s", what, g.State, want)
	}
	return g
}

func TestClaimedOnceAndForGood(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := startClaimRig(t)
		first := c.wantState("new", claim.Waiting)
		code := first.Code
		if want := "http://192.0.2.7:8081/claim?code=" + code + "&gateway=test"; first.URL != want {
			t.Errorf("it leads to %s, want %s", first.URL, want)
		}
		if got := c.loggedIn(); !slices.Equal(got, []string{"/"}) {
			t.Errorf("before it logs in as %q", got)
		}
		if r := c.bring("m1", code, acmeClaim); r.State != device.Done {
			t.Fatalf("receipt %+v", r)
		}
		if got := c.loggedIn(); !slices.Equal(got, []string{"roomgate-test/a-secret-of-test"}) {
			t.Errorf("then it logs in as %q", got)
		}
		g := c.wantState("claimed", claim.Done)
		goldentest.Values(t, "claimed", goldentest.Pairs{"Organization": {g.Organization, "Acme"},
			"OrganizationID": {g.OrganizationID, acme}, "ClaimedAt is zero": {g.ClaimedAt.IsZero(), false}, "Code": {g.Code, ""},
			"URL": {g.URL, ""}, "CloudConnected": {g.CloudConnected, true}})
		if o, err := c.Access.Organization(acme); err != nil || o.Name != "Acme" {
			t.Errorf("organization %+v, %v", o, err)
		}
		if r := c.bring("m1", code, acmeClaim); r.State != device.Done {
			t.Errorf("the same again: %+v", r)
		}
		other := backend.Claim{OrganizationID: "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec1", Organization: "Other"}
		if r := c.bring("m2", code, other); r.State != device.Rejected || r.Code != problem.Conflict || strings.Contains(r.Reason, "Acme") {
			t.Errorf("another one: %+v", r)
		}
		if told := c.told(); !slices.Contains(told, "gatewayClaimed") {
			t.Errorf("told %q", told)
		}

		c.stop()
		c.hides("a-secret-of-test", code)
		c.loggedIn()
		c.start(t)
		if g := c.wantState("after a restart", claim.Done); g.Organization != "Acme" {
			t.Errorf("after a restart: %+v", g)
		}
		if got := c.loggedIn(); !slices.Equal(got, []string{"roomgate-test/a-secret-of-test"}) {
			t.Errorf("after a restart it logs in as %q", got)
		}
	})
}

// hides wants none of the words in what is stored.
func (c *claimRig) hides(words ...string) {
	c.t.Helper()
	files, err := os.ReadDir(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(c.dir, f.Name()))
		for _, w := range words {
			if err != nil || bytes.Contains(data, []byte(w)) {
				c.t.Errorf("%s has %q: %v", f.Name(), w, err)
			}
		}
	}
}

func TestReleasedAndClaimedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := startClaimRig(t)
		used := c.Claim.Status().Code
		if err := c.Claim.Release(t.Context(), "me"); err != nil || c.Claim.Status().Code != used {
			t.Errorf("nobody's is released: %v", err)
		}
		c.bring("m1", used, acmeClaim)
		c.loggedIn()
		if err := c.Claim.Release(t.Context(), "me"); err != nil {
			t.Fatal(err)
		}
		c.wait(5 * time.Second)
		g := c.wantState("released", claim.Waiting)
		if got := c.loggedIn(); g.Code == used || !slices.Equal(got, []string{"/"}) {
			t.Errorf("it shows %s after %s and logs in as %q", g.Code, used, got)
		}
		if r := c.bring("m2", used, acmeClaim); r.State != device.Rejected || r.Code != problem.Forbidden {
			t.Errorf("with the used code: %+v", r)
		}
		keep := backend.Claim{OrganizationID: acme, Organization: "Acme Ltd"}
		if r := c.bring("m3", g.Code, keep); r.State != device.Done {
			t.Errorf("again: %+v", r)
		}
		if got := c.loggedIn(); len(got) != 0 {
			t.Errorf("without a login of its own it logs in again as %q", got)
		}
		if o, _ := c.Access.Organization(acme); o.Name != "Acme" {
			t.Errorf("what the organization is called here: %q", o.Name)
		}
	})
}

// A space for which the configuration names no organization is the claimant's, for
// its keys too, over a restart, and as long as the claim lasts.
func TestSpacesOfNobodyAreTheClaimants(t *testing.T) {
	const nobodys, others = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e01", "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e02"
	const other = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec1"
	bubble(t, func(t *testing.T) {
		c := &claimRig{dir: t.TempDir(), more: "spaces:\n  - {id: " + nobodys + ", name: Aurora}\n  - {id: " + others + ", name: Borealis, customer_id: " + other + "}\n"}
		c.heaven, c.publish = openHeaven(t)
		c.start(t)
		seen := func(what, organization string, want ...string) {
			t.Helper()
			if got := c.Site.SpacesSeen(access.Principal{OrganizationID: organization}); !slices.Equal(got, want) {
				t.Errorf("%s: %s sees %q, want %q", what, organization, got, want)
			}
		}
		seen("before", acme)
		seen("before", other, others)
		c.bring("m1", c.Claim.Status().Code, acmeClaim)
		for _, what := range []string{"claimed", "after a restart"} {
			seen(what, acme, nobodys)
			seen(what, other, others)
			if owner, err := c.Site.OrganizationOf(nobodys); owner != acme || err != nil {
				t.Errorf("%s: it is %q's, %v", what, owner, err)
			}
			c.stop()
			c.start(t)
		}
		start := c.Now().Truncate(time.Hour).Add(24 * time.Hour)
		_, _, err := c.Bookings.Create(t.Context(), booking.Booking{SpaceID: nobodys, Start: start, End: start.Add(time.Hour)}, schedule.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		told, _, err := c.Events.Latest(eventlog.Filter{Type: schedule.Created})
		if err != nil || len(told) != 1 || !bytes.Contains(told[0].Record, []byte(acme)) {
			t.Errorf("the events of bookings there: %+v, %v", told, err)
		}
		if err := c.Claim.Release(t.Context(), "me"); err != nil {
			t.Fatal(err)
		}
		seen("released", acme)
		seen("released", other, others)
		c.bring("m2", c.Claim.Status().Code, backend.Claim{OrganizationID: other, Organization: "Other"})
		seen("claimed by the other", acme)
		seen("claimed by the other", other, nobodys, others)
	})
}
