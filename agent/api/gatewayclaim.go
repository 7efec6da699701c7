package api

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"roomgate/agent/claim"
	"roomgate/agent/qr"
	"roomgate/agent/web"
)

// claimAnswer is the gateway's claim as programs get it.
type claimAnswer struct {
	claim.Status
	ClaimedAt *moment `json:"claimed_at,omitempty"`
}

// gatewayClaim answers with who owns the gateway, or with the code by
// which it is claimed; to a browser as a page that needs nothing but the
// gateway, for there may be no internet.
func gatewayClaim(s *Server, c *call) error {
	g := claimFor(s, c)
	if strings.Contains(strings.Join(c.r.Header["Accept"], ","), "text/html") {
		web.Guard(c.w.Header()) // the page's own address may hold the code
		return c.text("text/html; charset=utf-8", []byte(claimPage(g)))
	}
	answer := claimAnswer{Status: g}
	if !g.ClaimedAt.IsZero() {
		at := moment(g.ClaimedAt)
		answer.ClaimedAt = &at
	}
	return c.json(http.StatusOK, answer)
}

// claimFor is the claim as the caller may see it: at the control socket with the
// code, from the network where everybody is only while it is shown there.
func claimFor(s *Server, c *call) claim.Status {
	if s.showing || c.who == operator {
		return s.agent.Claim.Status()
	}
	return s.agent.Claim.NetworkStatus(c.r.URL.Query().Get("code"))
}

// releaseClaim ends the claim.
func releaseClaim(s *Server, c *call) error {
	if err := s.agent.Claim.Release(c.r.Context(), c.who.Name); err != nil {
		return err
	}
	return c.none()
}

// claimPage is the claim for a person, who stands in front of the gateway with
// a phone. It looks again by itself, more often while somebody waits for it.
func claimPage(g claim.Status) string {
	name := html.EscapeString(cmp.Or(g.Name, g.ID))
	again := 60
	if g.State == claim.Waiting {
		again = 5
	}
	return fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><title>%s</title>`+
		`<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="%d"><link rel="stylesheet" href="%s">`+
		`<h1>%[1]s</h1>%[4]s`, name, again, web.AssetPath("claim.css"), claimText(g))
}

func claimText(g claim.Status) string {
	switch g.State {
	case claim.Done:
		return fmt.Sprintf("<p>This gateway belongs to <b>%s</b> since %s.</p>%s", html.EscapeString(g.Organization),
			g.ClaimedAt.Format("2 January 2006 15:04 UTC"), claimLink(g, "The cloud is reached."))
	case claim.Waiting:
		return waitingText(g)
	}
	return fmt.Sprintf("<p>Nobody has to claim this gateway: %s.</p>", html.EscapeString(g.Reason))
}

// waitingText is the code, for a phone and for people.
func waitingText(g claim.Status) string {
	var b strings.Builder
	if g.Code == "" {
		fmt.Fprintf(&b, "<p>This gateway belongs to nobody yet: %s.</p>", html.EscapeString(g.Reason))
		return b.String() + claimLink(g, "The cloud is reached.")
	}
	fmt.Fprintf(&b, "<p>This gateway belongs to nobody yet. Scan the code, or type it where your organization takes it, with the gateway's id <b>%s</b>.</p>", html.EscapeString(g.ID))
	if code, err := qr.New(cmp.Or(g.URL, g.Code)); err == nil { // else the text has to do
		b.WriteString(code.SVG("the claim code " + g.Code))
	}
	fmt.Fprintf(&b, `<b class="code">%s</b>`, g.Code)
	if g.AtCloud {
		fmt.Fprintf(&b, `<p><a href="%s">Claim it with this device</a></p>`, html.EscapeString(g.URL))
	}
	left := time.Duration(g.ExpiresS) * time.Second
	fmt.Fprintf(&b, `<p class="small">Another code is shown in %d min. This page looks again by itself.</p>`, int(left.Round(time.Minute)/time.Minute))
	b.WriteString(claimLink(g, "The cloud is reached: a claim takes a few seconds."))
	return b.String()
}

// claimLink says whether the cloud is reached.
func claimLink(g claim.Status, reached string) string {
	if !g.CloudConnected {
		reached = "The cloud is not reached now. The building works without it; a claim gets through once it is."
	}
	return `<p class="small">` + reached + "</p>"
}
