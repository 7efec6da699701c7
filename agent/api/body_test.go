package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"roomgate/agent/access"
	"roomgate/agent/device"
	"roomgate/agent/problem"
)

// TestManyLargeBodies: displays that send slowly take a bounded part of the
// memory together.
func TestManyLargeBodies(t *testing.T) {
	const senders = 30
	bodies := &bodies{}
	var open []*call
	refused, room := 0, 0
	for i := range senders {
		c := &call{w: httptest.NewRecorder(), bodies: bodies, who: principal{access.Principal{ID: fmt.Sprint(i)}, device.ViaHTTP}, buffers: buffers{body: make([]byte, 0, 1<<10)},
			// All but the end of a picture, and then the line is cut.
			r: &http.Request{Header: http.Header{"Content-Type": {"image/png"}}, Body: io.NopCloser(io.MultiReader(bytes.NewReader(make([]byte, maxPicture-1)), brokenLine{}))}}
		open = append(open, c)
		_, err := c.readBody(maxPicture, "image/png")
		if room += cap(c.body); device.AsError(err).Code == problem.Unavailable {
			refused++
			if c.w.Header().Get("Retry-After") == "" {
				t.Error("it is not said when to try again")
			}
		}
	}
	if refused < senders-maxBodies/maxPicture-1 || room > maxBodies+senders*keptBody {
		t.Errorf("of %d senders %d were refused, and %d bytes are held", senders, refused, room)
	}
	for _, c := range open {
		c.release()
	}
	if bodies.all != 0 || len(bodies.of) != 0 {
		t.Error("not all was given back")
	}
}

type brokenLine struct{}

func (brokenLine) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestUsualRequestsNeedNoBudget: orders go on while large requests fill it.
func TestUsualRequestsNeedNoBudget(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, of := range []string{"ada", "bob"} {
			if !b.server.bodies.take(of, maxBodiesOfOne) {
				t.Fatal("somebody has some of it already")
			}
		}
		got := b.ask("POST", "/meetingspace/"+borealis+"/screenshot", "Content-Type: image/png", string(make([]byte, 2*keptBody)))
		checkProblem(t, "a large one", got, 503, "unavailable", "")
		if got := b.ask("POST", "/devices/"+borealis+"/status", `{"device_type":"all"}`); got.StatusCode != 200 {
			t.Errorf("a usual one: %d %s", got.StatusCode, got.body)
		}
		b.server.bodies.give("ada", maxBodiesOfOne)
		b.server.bodies.give("bob", maxBodiesOfOne)
		got = b.ask("POST", "/meetingspace/"+borealis+"/screenshot", "Content-Type: image/png", string(make([]byte, 2*keptBody)))
		checkProblem(t, "a large one later", got, 415, "unsupported_media_type", "")
		if b.server.bodies.all != 0 {
			t.Error("not all was given back")
		}
	})
}

// TestBodiesWithoutAType: what reads a body wants to know what it is, of any
// length that is told or not; where nothing was sent nothing is asked.
func TestBodiesWithoutAType(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		send := func(path, body string, length int64) answer {
			r := newRequest(t, "POST", path, "X-API-Key: "+systemKey)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), length
			got, err := b.net.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Body.Close()
			text, err := io.ReadAll(got.Body)
			if err != nil {
				t.Fatal(err)
			}
			return answer{got, string(text)}
		}
		for path, body := range map[string]string{"/devices/" + aurora + "/status": `{"device_type":"lock"}`, "/bookings": `{}`, "/bookings/bulk": `{}`,
			"/meetingspace/" + aurora + "/claim-code": `{}`, "/meetingspace/" + borealis + "/screenshot": "x", "/v2.0/bookings": `{}`,
			"/api/v1/auth/otp/request": `{"email":"a@example.com"}`, "/edge/register": `{"claim_code":"x"}`} {
			checkProblem(t, path, send(path, body, int64(len(body))), 415, "unsupported_media_type", "Content-Type")
			checkProblem(t, path+" in chunks", send(path, body, -1), 415, "unsupported_media_type", "Content-Type")
		}
		for _, length := range []int64{0, -1} {
			if got := send("/meetingspace/"+aurora+"/claim-code", "", length); got.StatusCode != 201 {
				t.Errorf("no body of length %d: %d %s", length, got.StatusCode, got.body)
			}
		}
	})
}

// TestLengthTwice sends a request with a length and in chunks, and behind it what
// a proxy that goes by the length would have taken for its body.
func TestLengthTwice(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		conn, err := b.net.dial()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const hidden = "GET /healthz HTTP/1.1\r\nHost: gateway\r\n\r\n"
		sent := "POST /devices/" + aurora + "/status HTTP/1.1\r\nHost: gateway\r\nX-API-Key: " + systemKey + "\r\nContent-Type: application/json\r\n" +
			"Content-Length: 80\r\nTransfer-Encoding: chunked\r\n\r\n16\r\n{\"device_type\":\"lock\"}\r\n0\r\n\r\n" + hidden
		go func() { _, _ = io.WriteString(conn, sent) }() // the rest is not read
		answers, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(answers), "HTTP/1.1 "); n != 1 || !strings.Contains(string(answers), "Connection: close") {
			t.Errorf("%d answers: %s", n, answers)
		}
	})
}

// TestNobodySendsForAll: strangers, a credential and an organization with many keys send large bodies that do not end.
// Somebody else sends his.
func TestNobodySendsForAll(t *testing.T) {
	for what, who := range map[string]func(i int) access.Principal{
		"strangers":       func(int) access.Principal { return access.Principal{} },
		"a credential":    func(int) access.Principal { return access.Principal{ID: "eve", Kind: access.KindSystem} },
		"an organization": func(i int) access.Principal { return access.Principal{ID: fmt.Sprint(i), OrganizationID: auroraOrg} },
	} {
		all := &bodies{}
		send := func(p access.Principal) error {
			c := &call{w: httptest.NewRecorder(), bodies: all, who: principal{p, device.ViaHTTP},
				r: &http.Request{Header: http.Header{"Content-Type": {"image/png"}}, Body: io.NopCloser(io.MultiReader(bytes.NewReader(make([]byte, maxPicture-1)), brokenLine{}))}}
			_, err := c.readBody(maxPicture, "image/png")
			return err
		}
		refused := 0
		for i := range 20 {
			if device.AsError(send(who(i))).Code == problem.Unavailable {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: nothing was refused", what)
		}
		if err := device.AsError(send(access.Principal{ID: "display", Kind: "edge"})); err.Code == problem.Unavailable {
			t.Errorf("after %s somebody else cannot send: %v", what, err)
		}
	}
}
