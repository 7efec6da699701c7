package api

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/sync/semaphore"

	"roomgate/agent"
	"roomgate/agent/problem"
)

// TestManyLargeBodies: displays that send slowly take a bounded part of the
// memory together.
func TestManyLargeBodies(t *testing.T) {
	const senders = 30
	bodies := semaphore.NewWeighted(maxBodies)
	var open []*call
	refused, room := 0, 0
	for range senders {
		c := &call{w: httptest.NewRecorder(), bodies: bodies, body: make([]byte, 0, 1<<10),
			// All but the end of a picture, and then the line is cut.
			r: &http.Request{Body: io.NopCloser(io.MultiReader(bytes.NewReader(make([]byte, maxPicture-1)), brokenLine{}))}}
		open = append(open, c)
		_, err := c.readBody(maxPicture)
		if room += cap(c.body); agent.AsError(err).Code == problem.Unavailable {
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
	if !bodies.TryAcquire(maxBodies) {
		t.Error("not all was given back")
	}
}

type brokenLine struct{}

func (brokenLine) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestUsualRequestsNeedNoBudget: orders go on while large requests fill it.
func TestUsualRequestsNeedNoBudget(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		if !b.server.bodies.TryAcquire(maxBodies) {
			t.Fatal("somebody has some of it already")
		}
		got := b.ask("POST", "/meetingspace/"+borealis+"/screenshot", "Content-Type: image/png", string(make([]byte, 2*keptBody)))
		checkProblem(t, "a large one", got, 503, "unavailable", "")
		if got := b.ask("POST", "/devices/"+borealis+"/status", `{"device_type":"all"}`); got.StatusCode != 200 {
			t.Errorf("a usual one: %d %s", got.StatusCode, got.body)
		}
		b.server.bodies.Release(maxBodies)
		got = b.ask("POST", "/meetingspace/"+borealis+"/screenshot", "Content-Type: image/png", string(make([]byte, 2*keptBody)))
		checkProblem(t, "a large one later", got, 415, "unsupported_media_type", "")
		if !b.server.bodies.TryAcquire(maxBodies) {
			t.Error("not all was given back")
		}
	})
}
