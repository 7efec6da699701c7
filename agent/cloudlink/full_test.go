package cloudlink

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// TestWhatHasNoRoomIsRefused: nothing that finds no room ends the connection, be it room on the disk or below a limit.
// Another failure does: the next connection may be better.
func TestWhatHasNoRoomIsRefused(t *testing.T) {
	lost := errors.New("lost")
	limit := problem.New(problem.Full, "codes", "are too many")
	for _, c := range []struct {
		taken, want error
		refused     string
	}{
		{fmt.Errorf("schedule: %w", store.ErrFull), nil, "config: schedule: " + store.ErrFull.Error()},
		{limit, nil, "config: " + limit.Error()},
		{lost, lost, ""},
		{problem.New(problem.Internal, "", "lost"), problem.New(problem.Internal, "", "lost"), ""},
	} {
		r := openRig(t)
		r.down["config"] = func(context.Context, cloud.Envelope) error { return c.taken }
		payload, err := cloud.Envelope{ID: "m", Source: "backend", Type: "roomgate.config", Data: []byte(`{}`)}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		err = r.Receive(t.Context(), cloud.Message{Topic: r.topics.Down("config"), Payload: payload})
		if fmt.Sprint(err) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.taken, err, c.want)
		}
		if got := append(r.refused, "")[0]; got != c.refused {
			t.Errorf("%v: refused %q, want %q", c.taken, got, c.refused)
		}
	}
}
