package api

import (
	"encoding/json"
	"image"
	"image/color"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"roomgate/agent/agenttest"
	"roomgate/agent/config"
	"roomgate/agent/goldentest"
	"roomgate/agent/qr/qrtest"
	"roomgate/agent/web"
	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// toBeClaimed has a cloud, which is never reached, and a page there.
func toBeClaimed(c *config.Config) {
	c.Gateway.Name = "House <3>"
	c.Cloud.URL, c.Cloud.ClaimURL = "mqtt://127.0.0.1:1", "https://rooms.example.com/claim?a=b"
}

// scanned is what a phone reads in the QR code of a page.
func scanned(t *testing.T, page string) string {
	t.Helper()
	box := regexp.MustCompile(`viewBox="0 0 (\d+) `).FindStringSubmatch(page)
	if box == nil {
		t.Fatalf("no code in %s", page)
	}
	side, _ := strconv.Atoi(box[1])
	const size = 4
	p := image.NewGray(image.Rect(0, 0, side*size, side*size))
	for i := range p.Pix {
		p.Pix[i] = 255
	}
	for _, bar := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-`).FindAllStringSubmatch(page, -1) {
		x, _ := strconv.Atoi(bar[1])
		y, _ := strconv.Atoi(bar[2])
		width, _ := strconv.Atoi(bar[3])
		for i := range width * size {
			for j := range size {
				p.SetGray(x*size+i, y*size+j, color.Gray{})
			}
		}
	}
	got, err := qrtest.Read(p)
	if err != nil {
		t.Fatalf("nobody can read the code: %v", err)
	}
	return got
}

// claimOf is the claim as programs get it, over the network and without a key.
func (b *building) claimOf() (g struct {
	State, URL  string
	Code        string `json:"claim_code"`
	Reason      string
	CloudOnline bool `json:"cloud_connected"`
}) {
	b.t.Helper()
	got := b.net.do(b.t, "GET", "/claim")
	if err := json.Unmarshal([]byte(got.body), &g); err != nil || got.StatusCode != 200 {
		b.t.Fatalf("%d %s: %v", got.StatusCode, got.body, err)
	}
	return g
}

func TestClaimPageIsForPhones(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.agent.Claim.ShowNetwork(time.Hour)
		g := b.claimOf()
		want := "https://rooms.example.com/claim?a=b&code=" + g.Code + "&gateway=test"
		if g.State != "waiting" || g.URL != want || g.CloudOnline {
			t.Errorf("claim %+v, want %s", g, want)
		}
		got := b.net.do(t, "GET", "/claim?code=X", "Accept: text/html,application/xhtml+xml;q=0.9")
		goldentest.Values(t, "the page", goldentest.Pairs{"StatusCode": {got.StatusCode, 200},
			"Content-Type":            {got.Header.Get("Content-Type"), "text/html; charset=utf-8"},
			"Cache-Control":           {got.Header.Get("Cache-Control"), "no-store"},
			"Content-Security-Policy": {closedIn(got), true},
			"Referrer-Policy":         {got.Header.Get("Referrer-Policy"), "no-referrer"}})
		if text := scanned(t, got.body); text != want {
			t.Errorf("a phone reads %q, want %q", text, want)
		}
		for _, part := range []string{`<b class="code">` + g.Code + `</b>`, "House &lt;3&gt;", "in 30 min", "not reached now", `href="` + strings.ReplaceAll(want, "&", "&amp;") + `"`, `http-equiv="refresh"`} {
			if !strings.Contains(got.body, part) {
				t.Errorf("the page lacks %s", part)
			}
		}
		if sheet := b.net.do(t, "GET", web.AssetPath("claim.css")); sheet.StatusCode != 200 || !strings.Contains(sheet.body, "b.code{") || !strings.Contains(got.body, "<link rel=\"stylesheet\" href=\""+web.AssetPath("claim.css")) {
			t.Errorf("its stylesheet: %d %s", sheet.StatusCode, sheet.body)
		}
		outside := regexp.MustCompile(`(?:src|href|action)="|url\(|<script|<link|<img`)
		if found := outside.FindAllString(got.body, -1); len(found) != 3 { // its stylesheet, and the page of the cloud
			t.Errorf("without internet it lacks %q", found)
		}
		if strings.Contains(b.log.String(), g.Code) {
			t.Error("the code is in the log")
		}
		time.Sleep(31 * time.Minute)
		if later := b.claimOf(); later.Code == g.Code {
			t.Error("the code stays for ever")
		}
	}, toBeClaimed)
}

func TestOnlyWhoManagesTheGatewayEndsItsClaim(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		checkProblem(t, "nobody", b.net.do(t, "DELETE", "/claim"), 401, "unauthorized", "X-API-Key")
		for what, got := range map[string]answer{"system key": b.ask("DELETE", "/claim"), "control socket": b.socket.do(t, "DELETE", "/claim")} {
			if got.StatusCode != 204 {
				t.Errorf("%s: %d %s", what, got.StatusCode, got.body)
			}
		}
	}, toBeClaimed)
}

func TestClaimOfAGatewayWithoutACloud(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		if g := b.claimOf(); g.State != "off" || g.Code != "" || !strings.Contains(g.Reason, "cloud.url") {
			t.Errorf("claim %+v", g)
		}
		page := b.net.do(t, "GET", "/claim", "Accept: text/html").body
		if strings.Contains(page, "<svg") || !strings.Contains(page, "cloud.url") {
			t.Errorf("page %s", page)
		}
	})
}

// TestClaimedGatewaySaysWhose holds the answer of a claimed gateway to its
// description, and the message that claims it.
func TestClaimedGatewaySaysWhose(t *testing.T) {
	s, async := parseSpec(t, false), parseAsync(t)
	belowTheCloud(t, func(t *testing.T, b *agenttest.Building, link *cloud.Link, got func() []cloud.Message) {
		server := New(Options{Agent: b.Agent, Names: []string{"gateway"}})
		organization := backend.Claim{OrganizationID: "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec0", Organization: "A & B", Username: "demo", Password: "p"}
		sealed, err := backend.SealClaim("demo", b.Claim.Status().Code, organization)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(sealed)
		topic := cloud.Topics{Gateway: "demo"}.Down("claim")
		payload, err := cloud.Envelope{ID: "m1", Source: "backend", Type: "roomgate.claim", Time: time.Now(), Data: data}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		async.checkMessage(t, topic, payload)
		if err := link.Publish(t.Context(), cloud.Message{Topic: topic, Payload: payload, QoS: 1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		answered := serveOnce(t, server, "application/json")
		s.checkAnswer(t, "GET /claim", s.operations()["GET /claim"], answered)
		if !strings.Contains(answered.body, `"organization":"A \u0026 B"`) || !strings.Contains(answered.body, `"claimed_at":"2000-01-01T00:00:`) {
			t.Errorf("answer %s", answered.body)
		}
		page := serveOnce(t, server, "text/html").body
		if !strings.Contains(page, "belongs to <b>A &amp; B</b> since 1 January 2000 00:00 UTC") || strings.Contains(page, "<svg") || !strings.Contains(page, "The cloud is reached.") {
			t.Errorf("page %s", page)
		}
		for _, m := range got() {
			async.checkMessage(t, m.Topic, m.Payload)
		}
	})
}

// serveOnce asks a server for the claim.
func serveOnce(t *testing.T, s *Server, accept string) answer {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, newRequest(t, "GET", "/claim", "Accept: "+accept))
	return answer{w.Result(), w.Body.String()}
}
