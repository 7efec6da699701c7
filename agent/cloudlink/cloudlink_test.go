package cloudlink

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/store"
)

// rig is a link that is never dialled, on a real store and log.
type rig struct {
	*Link
	t       *testing.T
	taken   []string // ids
	refused []string // level and why
	heard   []time.Time
	through chan struct{} // a message was refused
}

func openRig(t *testing.T) *rig {
	t.Helper()
	db, _, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	c := clock.New(clock.Options{Mode: clock.Always})
	r := &rig{Link: New("test"), t: t, through: make(chan struct{}, 9)}
	events := eventlog.New(eventlog.Options{DB: db, Clock: c, Rows: 100, Log: slog.New(slog.DiscardHandler), Grown: r.Wake})
	err = r.Open(Options{DB: db, Events: events, Clock: c, Log: slog.New(slog.DiscardHandler), Gateway: "test", Version: "1",
		Cloud: Settings{URL: "mqtt://cloud.example.com", Acks: cloud.AcksBackend},
		Login: func() (string, string, error) { return "", "", nil },
		Down: map[string]Handler{"command": func(_ context.Context, e cloud.Envelope) error {
			r.taken = append(r.taken, e.ID)
			return nil
		}},
		Refuse: func(_ context.Context, level string, _ cloud.Envelope, err error) error {
			r.refused = append(r.refused, level+": "+err.Error())
			r.through <- struct{}{}
			return nil
		},
		Up: func() {}, Witness: func(e cloud.Envelope) { r.heard = append(r.heard, e.Time) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) receive(level, kind, data string, retained bool) {
	r.t.Helper()
	payload, err := cloud.Envelope{ID: "m", Source: "backend", Type: kind, Time: time.Unix(1e9, 0), Data: json.RawMessage(data)}.Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.Receive(r.t.Context(), cloud.Message{Topic: r.topics.Down(level), Payload: payload, Retained: retained}); err != nil {
		r.t.Fatal(err)
	}
}

func TestEachMessageReachesWhoTakesIt(t *testing.T) {
	for _, c := range []struct {
		name, level, kind, data string
		taken                   bool
		refused                 string
	}{
		{"a command", "command", "roomgate.command", `{}`, true, ""},
		{"of another type", "command", "roomgate.schedule", `{}`, false, `command: type is "roomgate.schedule", want "roomgate.command" on this topic`},
		{"an ack without a sequence", "ack", "roomgate.ack", `{}`, false, "ack: sequence is missing"},
		{"an ack", "ack", "roomgate.ack", `{"sequence":3}`, false, ""},
		{"a replay of nothing", "replay", "roomgate.replay", `{}`, false, "replay: data is no range: want from, and to not before it"},
		{"a replay backwards", "replay", "roomgate.replay", `{"from":3,"to":2}`, false, "replay: data is no range: want from, and to not before it"},
		{"a replay", "replay", "roomgate.replay", `{"from":1}`, false, ""},
		{"a topic of nobody", "config", "roomgate.config", `{}`, false, ""},
	} {
		r := openRig(t)
		r.receive(c.level, c.kind, c.data, false)
		if (len(r.taken) == 1) != c.taken {
			t.Errorf("%s: taken %q", c.name, r.taken)
		}
		if got := append(r.refused, "")[0]; got != c.refused {
			t.Errorf("%s: refused %q, want %q", c.name, got, c.refused)
		}
	}
}

// What cannot be understood is answered where its id can be read, else dropped.
func TestWhatIsBrokenIsAnswered(t *testing.T) {
	body := base64.StdEncoding.EncodeToString([]byte(`{"specversion":"1.0","id":"m"`))
	for _, c := range []struct{ payload, refused string }{
		{`{"id":"m","source":"s","type":"roomgate.command","data":{}}`, `command: specversion is "", want "1.0"`},
		{`{"specversion":"1.0","id":"m","data":"` + strings.Repeat("x", cloud.MaxEnvelope) + `"}`, "command: envelope has 65"},
		{`{"specversion":"1.0","id":"m","data":{"a":}}`, "command: envelope is not JSON"},
		{`{"specversion":"1.0","data":{"a":}}`, ""},
		{`{"payloadType":"x","payload":"` + body + `","signatures":[]}`, "command: signatures are 0: want one"},
		{`{"payload":"` + body + `","signatures":[],"also":1}`, "command: also is not known beside a signed payload"},
		{`{"payload":"` + body + `","signatures":7}`, "command: envelope is signed and cannot be read"},
		{`{"payload":"%","signatures":[]}`, ""},
		{`{"payload":"bm8=","signatures":[]}`, ""},
	} {
		r := openRig(t)
		if err := r.Receive(t.Context(), cloud.Message{Topic: r.topics.Down("command"), Payload: []byte(c.payload)}); err != nil {
			t.Fatal(err)
		}
		if got := append(r.refused, "")[0]; !strings.HasPrefix(got, c.refused) || (got == "") != (c.refused == "") || len(r.taken) > 0 {
			t.Errorf("%.60s: refused %q, want %q", c.payload, got, c.refused)
		}
	}
}

func TestOnlyLiveMessagesAreWitnesses(t *testing.T) {
	r := openRig(t)
	r.receive("command", "roomgate.command", `{}`, true)
	if len(r.heard) != 0 || len(r.taken) != 1 {
		t.Errorf("retained: heard %v, taken %q", r.heard, r.taken)
	}
	r.receive("command", "roomgate.command", `{}`, false)
	if len(r.heard) != 1 {
		t.Errorf("live: heard %v", r.heard)
	}
}

func TestWithoutACloudNothingRuns(t *testing.T) {
	l := New("test")
	l.Wake() // the log may grow before the link is opened
	if err := l.Open(Options{}); err != nil {
		t.Fatal(err)
	}
	l.Renew()
	if l.Configured() || l.Connected() || l.Contested() != 0 {
		t.Error("a link without a cloud says that there is one")
	}
	if err := l.Run(t.Context(), func(context.Context) error { t.Error("a loop runs"); return nil }); err != nil {
		t.Error(err)
	}
}

func TestWillAndBirthAreOfOneSession(t *testing.T) {
	r := openRig(t)
	s := &session{link: r.Link}
	var says []presence
	for _, m := range []cloud.Message{s.will(), s.birth(), s.farewell(), s.will()} {
		e, err := cloud.Decode(m.Payload)
		var p presence
		if err == nil {
			err = json.Unmarshal(e.Data, &p)
		}
		if err != nil || !m.Retained {
			t.Fatalf("%+v: %v", m, err)
		}
		says = append(says, p)
	}
	if says[0].Session != says[1].Session || says[1].Session != says[2].Session || says[3].Session == says[0].Session {
		t.Errorf("sessions of %+v", says)
	}
	if says[0].State != "offline" || says[1].State != "online" || says[2].State != "offline" {
		t.Errorf("states of %+v", says)
	}
}

func TestAcknowledgedIsNeverBeyondTheLog(t *testing.T) {
	r := openRig(t)
	if err := (outbox{r.Link}).Forget(t.Context(), 1<<40); err != nil {
		t.Fatal(err)
	}
	if at, err := r.Acked(); at != 0 || err != nil {
		t.Errorf("acknowledged up to %d of an empty log, %v", at, err)
	}
}

// A presence message of another run, as that of another gateway with this id, is not ours.
func TestOwnPresence(t *testing.T) {
	r, other := openRig(t), openRig(t)
	if m := (&session{link: r.Link}).will(); !r.mine(m) || other.mine(m) {
		t.Errorf("mine %v, the other's %v", r.mine(m), other.mine(m))
	}
}

// The cloud may set over how long the gateway comes back, and take that back.
func TestSpread(t *testing.T) {
	r := openRig(t)
	r.o.Cloud.ReconnectSpread = 2 * time.Second
	for _, c := range [][2]int{{0, 2}, {60, 60}, {0, 2}} {
		if r.SetSpread(c[0]); r.Spread() != time.Duration(c[1])*time.Second {
			t.Errorf("%v: %v", c[0], r.Spread())
		}
	}
}
