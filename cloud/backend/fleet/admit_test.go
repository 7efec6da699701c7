package fleet

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/backendtest"
)

// A gateway that is claimed is given a login once: again if it has refused the claim or was released, not
// while it has one, which another would end.
func TestClaimAdmits(t *testing.T) {
	t.Parallel()
	g, err := backendtest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var state atomic.Value
	state.Store(backend.Rejected)
	g.Answers(func(string, json.RawMessage) string { return state.Load().(string) })
	var admitted atomic.Int64
	full := errors.New("the cells are full")
	f, err := Open(Options{Path: filepath.Join(t.TempDir(), "fleet.db"), Key: "secret", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Broker: backend.Options{URL: g.URL(), ClientID: "fleet"},
		Admit: func(gateway string) (string, string, error) {
			if gateway != "played" {
				return "", "", full
			}
			admitted.Add(1)
			return gateway, "made for it", nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	stop := runs(t, f)
	defer stop()
	until(t, f, "/gateways", "played") // so it hears: nothing is missed
	claim := func(gateway string) string {
		_, answer := ask(f, "secret", "POST", "/claims", `{"gateway_id":"`+gateway+`","code":"7K3M-QX9D-0ABC-DEF1","organization":"Acme"}`)
		if strings.Contains(answer, "made for it") {
			t.Errorf("the password is told: %s", answer)
		}
		return answer
	}
	if answer := claim("other"); !strings.Contains(answer, full.Error()) {
		t.Errorf("a gateway that is not admitted is answered with %s", answer)
	}
	for _, step := range []struct {
		answer string
		want   int64
	}{{backend.Rejected, 1}, {backend.Done, 2}, {backend.Rejected, 2}, {backend.Done, 2}} {
		state.Store(step.answer)
		claim("played")
		until(t, f, "/claims", `"state":"`+step.answer+`"`)
		if n := admitted.Load(); n != step.want {
			t.Errorf("with a claim that ends as %s the gateway was admitted %d times: want %d", step.answer, n, step.want)
		}
	}
	g.Event("gatewayReleased", "")
	until(t, f, "/claims", `"state":"released"`)
	claim("played")
	if n := admitted.Load(); n != 3 {
		t.Errorf("after its release it was admitted %d times: want 3", n)
	}
}
