package fleet

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/authority"
	"roomgate/cloud/backend"
)

// The table has the certificate that a gateway tells of, and whose was taken back; a request that nobody
// can answer ends nothing.
func TestCertificatesInTheTable(t *testing.T) {
	t.Parallel()
	ca, err := authority.Init(filepath.Join(t.TempDir(), "ca"), "gateways", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(Options{Path: filepath.Join(t.TempDir(), "fleet.db"), Key: "secret", Authority: ca, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Broker: backend.Options{URL: "mqtt://127.0.0.1:1", ClientID: "fleet"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	g := backend.Gateway{ID: "hq"}
	g.Hear(backend.Received{Gateway: "hq", Level: cloud.LevelHeartbeat, Envelope: cloud.Envelope{Data: json.RawMessage(`{"version":"1","cloud_certificate":{"state":"good","until":"2027-02-22T00:00:00Z","seen":"it is good"}}`)}})
	f.backend.Know(g)
	if all := f.Gateways(); len(all) != 1 || all[0].Certificate == nil || all[0].Certificate.State != "good" || !all[0].Revoked.IsZero() {
		t.Errorf("%+v", all)
	}
	if _, err := ca.Admit("hq"); err != nil {
		t.Fatal(err)
	}
	if err := ca.Revoke("hq"); err != nil {
		t.Fatal(err)
	}
	if raw, err := json.Marshal(f.Gateways()); err != nil || !strings.Contains(string(raw), `"revoked":"20`) {
		t.Errorf("the revoked one: %s, %v", raw, err)
	}
	for range 2 * mostAsks { // nobody takes them here
		f.enrol(backend.Received{Gateway: "hq", Envelope: cloud.Envelope{Data: json.RawMessage(`{"sealed":"AAAA"}`)}})
	}
	if len(f.asks) != mostAsks {
		t.Errorf("%d wait", len(f.asks))
	}
}

// A claim whose code cannot be one leaves no secret at the authority.
func TestWrongCodeAdmitsNobody(t *testing.T) {
	t.Parallel()
	ca, err := authority.Init(filepath.Join(t.TempDir(), "ca"), "gateways", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(Options{Path: filepath.Join(t.TempDir(), "fleet.db"), Key: "secret", Authority: ca, Log: slog.New(slog.DiscardHandler), Broker: backend.Options{URL: "mqtt://127.0.0.1:1", ClientID: "fleet"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Claim(t.Context(), Claim{Gateway: "hq", Code: "wrong", Organization: "Acme"}); !errors.Is(err, errInvalid) {
		t.Errorf("a wrong code: %v", err)
	}
	if all, err := ca.Gateways(); err != nil || len(all) != 0 {
		t.Errorf("the authority knows %+v, %v", all, err)
	}
}
