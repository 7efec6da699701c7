package cloudpart

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const room = "aurora-1"

// rig is the parts on a real store and log, in a building of one space.
type rig struct {
	*testing.T
	*Parts
	db     *store.DB
	path   string
	keys   *auth.Keys
	events *eventlog.Log

	taken  []string       // the data of the messages that came whole
	answer *problem.Error // to them
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, path: filepath.Join(t.TempDir(), "test.db")}
	var err error
	if r.keys, err = auth.NewKeys(auth.NewSecret()); err != nil {
		t.Fatal(err)
	}
	r.open()
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

// open opens the parts, again if they are open.
func (r *rig) open() {
	r.Helper()
	if r.db != nil {
		_ = r.db.Close()
	}
	var err error
	if r.db, _, err = store.Open(r.Context(), r.path, store.Options{Schema: 1}); err != nil {
		r.Fatal(err)
	}
	now, log := clock.New(clock.Options{Mode: clock.Always}), slog.New(slog.DiscardHandler)
	r.events = eventlog.New(eventlog.Options{DB: r.db, Clock: now, Rows: 1000, Flush: time.Second, Log: log})
	r.Parts = New(Options{DB: r.db, Events: r.events, Keys: r.keys,
		Commands: device.NewCommands(device.CommandsOptions{DB: r.db, Events: r.events, Clock: now, Log: log, TTL: time.Minute}),
		Space: func(id string) *problem.Error {
			if id != room {
				return problem.New(problem.NotFound, "meeting_space_id", "is none")
			}
			return nil
		}})
}

// brings lets a message of a level come.
func (r *rig) brings(level, id string, data []byte) {
	r.Helper()
	join := r.Join
	if level == "config" {
		join = r.JoinKept
	}
	take := join(level, func(_ context.Context, e cloud.Envelope) (*problem.Error, error) {
		r.taken = append(r.taken, string(e.Data))
		return r.answer, nil
	})
	if err := take(r.Context(), cloud.Envelope{ID: id, Source: "backend", Time: time.Now(), Data: data}); err != nil {
		r.Errorf("%s: %v", id, err)
	}
}

// receipts are the states that a message was answered with, oldest first.
func (r *rig) receipts(id string) (states []device.State) {
	r.Helper()
	page, err := r.events.Page(0, 1000)
	if err != nil {
		r.Fatal(err)
	}
	for _, item := range page {
		var said device.Receipt
		if item.Value.Level() == eventlog.LevelReceipt && json.Unmarshal(item.Value.Data, &said) == nil && said.CommandID == id {
			states = append(states, said.State)
		}
	}
	return states
}

// message is a schedule of ten bookings, whole and in parts.
func message(t *testing.T, revision int) (whole []byte, parts []json.RawMessage) {
	t.Helper()
	var slots []string
	for i := range 10 {
		slots = append(slots, fmt.Sprintf(`{"id":"b%d","title":"CANARY %s"}`, i, strings.Repeat("x", 100)))
	}
	whole = fmt.Appendf(nil, `{"meeting_space_id":%q,"revision":%d,"kind":"snapshot","bookings":[%s]}`, room, revision, strings.Join(slots, ","))
	parts, err := cloud.Split(whole, fmt.Sprint("w", revision), len(whole)/2)
	if err != nil || len(parts) < 3 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	return whole, parts
}

// A message comes whole and once, in whatever order its parts come, twice and over restarts.
func TestWholeOrNotAtAll(t *testing.T) {
	for _, level := range []string{"schedule", "config"} {
		for seed := range uint64(8) {
			r := newRig(t)
			whole, parts := message(t, 3)
			random := rand.New(rand.NewPCG(seed, 0))
			order := random.Perm(len(parts))
			for n, i := range order {
				if len(r.taken) > 0 {
					t.Fatalf("%s, %v: whole after %d of %d parts", level, order, n, len(parts))
				}
				r.brings(level, fmt.Sprint("p", i), parts[i])
				if n == len(order)/2 {
					r.brings(level, fmt.Sprint("p", i), parts[i])
					r.open()
				}
			}
			if want := []string{string(whole)}; !slices.Equal(r.taken, want) {
				t.Errorf("%s, %v: took %q, want %q", level, order, r.taken, want)
			}
			for i := range parts {
				if got := r.receipts(fmt.Sprint("p", i)); !slices.Equal(got, []device.State{device.Accepted}) {
					t.Errorf("%s, %v: part %d was answered with %v", level, order, i, got)
				}
			}
		}
	}
}

// What has no parts is handed on as it is, also what nobody can read.
func TestWithoutParts(t *testing.T) {
	r := newRig(t)
	said := []string{`{"meeting_space_id":"nowhere"}`, `[]`, `{`, ``}
	for _, data := range said {
		r.brings("schedule", "m", []byte(data))
	}
	if !slices.Equal(r.taken, said) {
		t.Errorf("took %q", r.taken)
	}
}

func TestPartsOfNothing(t *testing.T) {
	for what, data := range map[string]string{
		"a number that there is not": `{"part":4,"of":3,"whole":"w","meeting_space_id":"aurora-1"}`,
		"no number":                  `{"of":3,"whole":"w","meeting_space_id":"aurora-1"}`,
		"too many":                   fmt.Sprintf(`{"part":1,"of":%d,"whole":"w","meeting_space_id":"aurora-1"}`, cloud.MaxParts+1),
		"of no message":              `{"part":1,"of":3,"meeting_space_id":"aurora-1"}`,
		"of another building":        `{"part":1,"of":3,"whole":"w","meeting_space_id":"elsewhere"}`,
		"too large":                  `{"part":1,"of":3,"whole":"w","meeting_space_id":"aurora-1","x":"` + strings.Repeat("x", maxPart) + `"}`,
	} {
		r := newRig(t)
		r.brings("schedule", "p", []byte(data))
		if got := r.receipts("p"); !slices.Equal(got, []device.State{device.Rejected}) {
			t.Errorf("%s: answered with %v", what, got)
		}
		if _, err := r.count(); err != nil || len(r.taken) > 0 {
			t.Errorf("%s: took %q, %v", what, r.taken, err)
		}
	}
}

// count is how many parts are stored.
func (r *rig) count() (n int, err error) {
	return n, r.db.View(func(tx *store.Tx) error {
		n = parts.Len(tx)
		return tx.Err()
	})
}

// Parts are sealed on the disk, and gone once the message is answered or the database becomes
// another gateway's.
func TestPartsAreSealedAndForgotten(t *testing.T) {
	r := newRig(t)
	_, all := message(t, 3)
	r.brings("schedule", "p0", all[0])
	if n, err := r.count(); n != 1 || err != nil {
		t.Fatalf("%d parts are stored, %v", n, err)
	}
	if file, err := os.ReadFile(r.path); err != nil || bytes.Contains(file, []byte("CANARY")) {
		t.Errorf("a part lies in clear on the disk, or %v", err)
	}
	for i, p := range all[1:] {
		r.brings("schedule", fmt.Sprint("p", i+1), p)
	}
	if n, err := r.count(); n != 0 || err != nil || len(r.taken) != 1 {
		t.Errorf("after the message %d parts are stored, %v, %d messages were taken", n, err, len(r.taken))
	}
	_, next := message(t, 4)
	r.brings("schedule", "q0", next[0])
	if err := r.db.Update(t.Context(), Forget); err != nil {
		t.Fatal(err)
	}
	if n, err := r.count(); n != 0 || err != nil {
		t.Errorf("after Forget %d parts are stored, %v", n, err)
	}
}

// A later message ends the wait for an earlier one once it is accepted, and only then.
func TestOvertaken(t *testing.T) {
	for refused, want := range map[bool][]device.State{false: {device.Accepted, device.Rejected}, true: {device.Accepted}} {
		r := newRig(t)
		if refused {
			r.answer = problem.New(problem.Invalid, "bookings", "are wrong")
		}
		_, early := message(t, 3)
		_, late := message(t, 4)
		r.brings("schedule", "e0", early[0])
		for i, p := range late {
			r.brings("schedule", fmt.Sprint("l", i), p)
		}
		if got := r.receipts("e0"); !slices.Equal(got, want) {
			t.Errorf("refused %v: the part of the earlier one was answered with %v, want %v", refused, got, want)
		}
	}
}
