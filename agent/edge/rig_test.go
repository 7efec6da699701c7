package edge

import (
	"log/slog"
	"net/netip"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/eventlog/eventlogtest"
	"roomgate/agent/problem"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const room, otherRoom = "aurora-1", "borealis-1"

var here = netip.MustParsePrefix("192.0.2.7/32")

// rig is the edge devices on a real store and log, in a building of two spaces.
type rig struct {
	*testing.T
	*Devices
	db   *store.DB
	path string
	keys *auth.Keys
	gone string // a space that there is not any more

	owners map[string]string // organizations by space
}

// inTime runs a test on a rig in virtual time.
func inTime(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, path: filepath.Join(t.TempDir(), "test.db")}
		var err error
		if r.keys, err = auth.NewKeys(auth.NewSecret()); err != nil {
			t.Fatal(err)
		}
		r.open()
		t.Cleanup(func() { _ = r.db.Close() })
		test(r)
	})
}

// open opens the edge devices, again if they are open.
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
	r.Devices, err = Open(r.Context(), Options{DB: r.db, Clock: now, Keys: r.keys, Log: log,
		Events: eventlog.New(eventlog.Options{DB: r.db, Clock: now, Rows: 1000, Flush: time.Second, Log: log}),
		Space: func(id string) error {
			if id != room && id != otherRoom || id == r.gone {
				return problem.New(problem.NotFound, "meeting_space_id", "is none")
			}
			return nil
		},
		Owner: func(id string) (string, error) {
			if id == r.gone {
				return "", problem.New(problem.NotFound, "meeting_space_id", "is none")
			}
			return r.owners[id], nil
		},
	})
	if err != nil {
		r.Fatal(err)
	}
}

// code makes a pairing code.
func (r *rig) code(space string) string {
	r.Helper()
	code, _, err := r.NewCode(space)
	if err != nil {
		r.Fatal(err)
	}
	return code
}

// register registers a device in the room, with a code of its own.
func (r *rig) register(d Device) (_ Device, secret string, _ error) {
	r.Helper()
	return r.Register(r.Context(), r.code(room), d, here)
}

// refused wants an error of that code and field.
func (r *rig) refused(what string, err error, code problem.Code, field string) {
	r.Helper()
	if p := problem.As(err); p == nil || p.Code != code || p.Field != field {
		r.Errorf("%s: %v, want %s %s", what, err, code, field)
	}
}

// told are the kinds of the events so far, oldest first.
func (r *rig) told() []string { return eventlogtest.Kinds(r, r.o.Events) }
