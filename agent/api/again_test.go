package api

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/problem"
)

// lapse is somebody who may something, and loses it while his request waits.
type lapse struct {
	name, header string
	path, body   string
	lose         func() error
	status       int
}

const opens = `{"device_type":"lock","action":"open"}`

// lapses are one of each kind.
func (b *building) lapses(t *testing.T) []lapse {
	open := "/devices/" + aurora + "/action"
	system, secret, err := b.agent.Access.CreateKey(t.Context(), "system", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	own, ownHeader := b.orgKey(t, auroraOrg, "devices:write")
	less, lessHeader := b.orgKey(t, auroraOrg, "devices:write")
	seller, sellerHeader := b.orgKey(t, auroraOrg, "devices:write")
	user, console := "Authorization: Bearer "+b.signIn(t, "ada@example.com"), b.atConsole()
	display, displayKey := b.registered(aurora, `,"kind":"display"`)
	revoke := func(k access.Key) func() error {
		return func() error { return b.agent.Access.RevokeKey(t.Context(), k.ID) }
	}
	expiring, brief, err := b.agent.Access.CreateKey(t.Context(), "brief", time.Now().Add(500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	return []lapse{
		{"key that expires", "X-API-Key: " + brief, open, opens, func() error { time.Sleep(time.Until(expiring.Expires) + time.Millisecond); return nil }, 401},
		{"key of the building", "X-API-Key: " + secret, open, opens, revoke(system), 401},
		{"key of an organization", ownHeader, open, opens, revoke(own), 401},
		{"key with fewer permissions", lessHeader, open, opens, func() error { return b.lessen(less, lessHeader) }, 403},
		{"token that a key has bought", "Authorization: Bearer " + b.buy(t, sellerHeader, `{}`), open, opens, revoke(seller), 401},
		{"user", user, open, opens, func() error { return b.agent.Access.EnableUser(t.Context(), "ada", false) }, 401},
		{"session of the console", console, open, opens, func() error { return b.agent.Access.SignOutSession(t.Context(), b.whoIs(t, console)) }, 401},
		{"display", "X-API-Key: " + displayKey, "/display/" + aurora + "/do/book", `{"minutes":15}`, func() error { return b.agent.Edges.Delete(t.Context(), display, "ada") }, 401},
	}
}

// lessen leaves a key the permission to read.
func (b *building) lessen(k access.Key, header string) error {
	hash := sha256.Sum256([]byte(strings.TrimPrefix(header, "X-Org-Api-Key: ")))
	stage, _, err := b.agent.Access.StageKeys([]access.KeySpec{{ID: k.ID, Name: k.Name, Hash: hex.EncodeToString(hash[:]),
		OrganizationID: k.OrganizationID, Permissions: []string{"devices:read"}}}, []string{k.ID})
	if err == nil {
		stage.Show()
		stage.Release()
	}
	return err
}

// whoIs is who comes with a header.
func (b *building) whoIs(t *testing.T, header string) access.Principal {
	_, secret, _ := strings.Cut(header, ": ")
	p, ok := b.agent.AuthenticateKey(secret)
	if token, is := strings.CutPrefix(secret, "Bearer "); is {
		var err error
		p, err = b.agent.Access.AuthenticateToken(token)
		ok = err == nil
	}
	if !ok {
		t.Fatalf("nobody comes with %s", header)
	}
	return p
}

// TestWhoWaitsIsAskedAgain: who loses a right while his request waits for its pace, or while its body comes, opens no
// door and books nothing any more.
func TestWhoWaitsIsAskedAgain(t *testing.T) {
	for _, way := range []string{"pace", "body"} {
		inBuilding(t, func(t *testing.T, b *building) {
			for _, l := range b.lapses(t) {
				answered := b.begin(t, way, l)
				synctest.Wait()
				if len(answered.done) > 0 {
					t.Fatalf("%s waits for no %s", l.name, way)
				}
				if err := l.lose(); err != nil {
					t.Fatal(l.name, err)
				}
				answered.goOn()
				if got := <-answered.done; got.StatusCode != l.status {
					t.Errorf("%s: after it waited for its %s it gets %d %s, want %d", l.name, way, got.StatusCode, got.body, l.status)
				}
			}
			if d, err := b.agent.Site.Device(aurora, "lock"); err != nil || d.Last() != nil {
				t.Errorf("the door was opened: %v, %v", d.Last(), err)
			}
			if got := b.ask("GET", "/bookings"); strings.Contains(got.body, "booking_id") || strings.Contains(got.body, "walk_up") {
				t.Errorf("the room was booked: %s", got.body)
			}
		}, tenants, func(c *config.Config) { c.Spaces[0].OrganizationID = auroraOrg })
	}
}

// waiting is a request that waits.
type waiting struct {
	done chan answer
	goOn func() // to send the rest of it
}

// begin sends a request that waits for its pace, or for the rest of its body.
func (b *building) begin(t *testing.T, way string, l lapse) waiting {
	w := waiting{make(chan answer, 1), func() {}}
	if way == "pace" {
		p := b.whoIs(t, l.header)
		const far = time.Hour
		b.server.paces.credentials.Wait(p.Kind+" "+p.ID, paceBurst+int(time.Second/paceStep), far, time.Now())
		go func() { w.done <- b.net.do(t, "POST", l.path, l.header, l.body) }()
		return w
	}
	conn := b.net.mustDial(t)
	half := len(l.body) / 2
	go func() {
		defer conn.Close()
		_, _ = io.WriteString(conn, "POST "+l.path+" HTTP/1.1\r\nHost: gateway\r\n"+l.header+
			"\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(l.body))+"\r\n\r\n"+l.body[:half])
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Error(l.name, err)
			close(w.done)
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.done <- answer{r, string(body)}
	}()
	w.goOn = func() { _, _ = io.WriteString(conn, l.body[half:]) }
	return w
}

// TestReadersAreAskedAgain: who loses his key while he waits for his turn reads nothing any more, and that is no wrong try.
func TestReadersAreAskedAgain(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, path := range []string{"GET /bookings", "GET /devices/types", "POST /devices/" + aurora + "/status", "POST /devices/" + aurora + "/control"} {
			key, header := b.orgKey(t, auroraOrg, "devices:read", "bookings:read")
			free := b.server.limiters.occupied(t)
			done := make(chan answer)
			for range 2 * triesBurst {
				go func() {
					method, path, _ := strings.Cut(path, " ")
					parts := []string{header}
					if method == "POST" {
						parts = append(parts, `{"device_type":"light"}`)
					}
					done <- b.net.do(t, method, path, parts...)
				}()
			}
			time.Sleep(2 * shortWait)
			if err := b.agent.Access.RevokeKey(t.Context(), key.ID); err != nil {
				t.Fatal(err)
			}
			free()
			for range 2 * triesBurst {
				if got := <-done; got.StatusCode != http.StatusUnauthorized {
					t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
				}
			}
		}
	}, tenants, func(c *config.Config) { c.Spaces[0].OrganizationID = auroraOrg })
}

// TestUploadEndsWithItsSession: a bundle of somebody who has signed out meanwhile is not installed, also not if nothing but
// its end is still to come.
func TestUploadEndsWithItsSession(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		bundle := b.takingUpdates(t)("1.5.0")
		b.server.pages = b.serverOf().pages
		for _, part := range []int{len(bundle) / 2, len(bundle)} {
			who := b.atConsole()
			body, rest := io.Pipe()
			r := newRequest(t, "POST", "/console/update/bundle", who, "Content-Type: application/octet-stream")
			r.Body = body
			done := make(chan *http.Response)
			go func() {
				got, err := b.net.client.Do(r)
				if err != nil {
					t.Error(err)
				}
				done <- got
			}()
			_, _ = io.WriteString(rest, bundle[:part])
			synctest.Wait()
			if err := b.agent.Access.SignOutSession(t.Context(), b.whoIs(t, who)); err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(rest, bundle[part:])
			_ = rest.Close()
			got := <-done
			if got == nil || got.StatusCode != http.StatusUnauthorized {
				t.Fatalf("it gets %v", got)
			}
			_ = got.Body.Close()
			if next := b.updates.Status().Next; next != "" {
				t.Errorf("%s is installed", next)
			}
		}
	}, roles)
}

// TestDoorAsksAgain: a command to a lock is the last thing that is asked for.
func TestDoorAsksAgain(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		key, header := b.orgKey(t, auroraOrg, "devices:write")
		c := &call{r: newRequest(t, "POST", "/devices/"+aurora+"/action", header), server: b.server, params: [maxParams]string{aurora},
			operation: newEndpoint(&route{method: "POST", path: "/devices/{meeting_space_id}/action", permission: permitWrite})}
		if err := b.server.network.admit(c, c.operation); err != nil {
			t.Fatal(err)
		}
		if err := b.agent.Access.RevokeKey(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		_, err := b.server.do(c, device.Command{Space: aurora, DeviceType: "lock", Action: "open", Via: device.ViaHTTP}, 0)
		if e := problem.As(err); e == nil || e.Code != problem.Unauthorized {
			t.Errorf("it gets %v", err)
		}
	}, tenants, func(c *config.Config) { c.Spaces[0].OrganizationID = auroraOrg })
}

// TestBodiesAreGivenBackToTheirHolder: whose the bytes of a body were, while its key went to another organization.
func TestBodiesAreGivenBackToTheirHolder(t *testing.T) {
	c := &call{bodies: &bodies{}, who: principal{Principal: access.Principal{ID: "app", OrganizationID: auroraOrg}}}
	all := c.bodies
	if err := c.grow(maxBody); err != nil {
		t.Fatal(err)
	}
	c.body = make([]byte, keptBody)
	if err := c.grow(maxBody); err != nil {
		t.Fatal(err)
	}
	c.who.OrganizationID = borealisOrg
	c.release()
	if all.all != 0 || len(all.of) != 0 {
		t.Errorf("of the budget %d are left taken, by %v", all.all, all.of)
	}
}

// TestErrandEndsAsItsSessionExpires: what somebody has begun at the console does not go on past his session, also if nobody
// signs him out.
func TestErrandEndsAsItsSessionExpires(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.working(func() {
			who := "Authorization: Bearer " + b.signIn(t, "ada@example.com")
			time.Sleep(29*time.Minute + 30*time.Second) // of half an hour
			if got := b.net.do(t, "POST", "/console/made/support-bundle", who); got.StatusCode != http.StatusNoContent {
				t.Fatalf("begin: %d %s", got.StatusCode, got.body)
			}
			time.Sleep(40 * time.Second) // of a minute that it takes
			if page := b.net.do(t, "GET", "/console/stream/support", b.atConsole()).body; !strings.Contains(page, "has expired") {
				t.Errorf("it goes on: %s", page)
			}
		})
	}, tenants)
}
