package update

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// house is a building of which a test says how it is.
type house struct {
	sync.Mutex
	ready, moves error
	online       bool
	busy, url    string
	events       []string
	served       map[string][]byte // bundles by their addresses
	fetched      int
	broken       bool                                            // the line breaks after 9000 bytes
	tag          string                                          // of what is served; empty: none can go on
	from         []int64                                         // offsets that were served
	probe        func(context.Context, *Program, Manifest) error // of a new binary
}

func (h *house) Ready() error    { h.Lock(); defer h.Unlock(); return h.ready }
func (h *house) Progress() error { h.Lock(); defer h.Unlock(); return h.moves }
func (h *house) Online() bool    { h.Lock(); defer h.Unlock(); return h.online }
func (h *house) URL() string     { h.Lock(); defer h.Unlock(); return h.url }
func (h *house) Busy() string    { h.Lock(); defer h.Unlock(); return h.busy }
func (h *house) Note(_ context.Context, event string, details map[string]any) error {
	h.Lock()
	defer h.Unlock()
	h.events = append(h.events, fmt.Sprint(event, " ", cmp.Or(details["version"], any(""))))
	return nil
}

func (h *house) fetch(_ context.Context, url string, from int64, validator string) (Body, error) {
	h.Lock()
	defer h.Unlock()
	h.fetched++
	data, ok := h.served[url]
	if !ok {
		return Body{}, errors.New("no route")
	}
	if data == nil {
		return Body{}, refuse(NotThere, "the server answers 404")
	}
	if validator != h.tag {
		from = 0
	}
	h.from = append(h.from, from)
	b := Body{From: from, Size: int64(len(data)), Validator: h.tag}
	rest := io.Reader(bytes.NewReader(data[from:]))
	if h.broken {
		rest = io.MultiReader(io.LimitReader(rest, 9000), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	b.ReadCloser = io.NopCloser(rest)
	return b, nil
}

// is changes how the building is.
func (h *house) is(change func()) {
	h.Lock()
	defer h.Unlock()
	change()
}

func (h *house) told() string {
	h.Lock()
	defer h.Unlock()
	return strings.Join(h.events, ", ")
}

// running is a gateway of some version in the bubble of a test.
type running struct {
	*Runner
	house *house
	ended chan error
	stop  context.CancelFunc
}

func run(t *testing.T, r *Releases, h *house) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	g := &running{house: h, ended: make(chan error, 1), stop: stop}
	g.Runner = NewRunner(r, Gateway{h.Ready, h.Progress, h.Online, h.Busy, h.URL, h.Note}, PaceOf(5*time.Minute), slog.New(slog.DiscardHandler), stop)
	g.Fetch, g.Taking.Probe = h.fetch, h.probe
	go func() { g.ended <- g.Run(ctx) }()
	return g
}

// after waits, and says whether the gateway has ended, and why.
func (g *running) after(d time.Duration) (ended bool, err error) {
	time.Sleep(d)
	synctest.Wait()
	select {
	case err := <-g.ended:
		return true, err
	default:
		return false, nil
	}
}

func (g *running) runsOn(t *testing.T, d time.Duration) {
	t.Helper()
	if ended, err := g.after(d); ended {
		t.Fatalf("the gateway ended: %v", err)
	}
}

func TestUpdateWaitsForTheEndOfTheMeeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReleases(t)
		h := &house{busy: "Aurora has a meeting"}
		g := run(t, r, h)
		g.runsOn(t, time.Hour)
		must(t, r.take(t, "1.1.0"))
		g.Look(false)
		g.runsOn(t, 24*time.Hour)
		r.wantStart(t, "1.0.0")
		h.is(func() { h.busy, h.online = "", true })
		if ended, err := g.after(time.Minute); !ended || err != nil {
			t.Fatalf("ended %v, %v", ended, err)
		}
		r.wantStart(t, "1.1.0")
		if on := r.as("1.1.0").OnTrial(); on == nil || !on.Online {
			t.Errorf("on trial: %+v", on)
		}
	})
}

func TestUpdateNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReleases(t)
		g := run(t, r, &house{busy: "Aurora has a meeting"})
		g.runsOn(t, time.Minute)
		must(t, r.take(t, "1.1.0"))
		g.Look(true)
		if ended, err := g.after(0); !ended || err != nil {
			t.Fatalf("ended %v, %v", ended, err)
		}
		r.wantStart(t, "1.1.0")
	})
}

// trial is a gateway that has just started on trial.
func trial(t *testing.T, h *house) (*Releases, *running) {
	t.Helper()
	r := confirmed(t, "1.1.0")
	must(t, r.take(t, "1.2.0"))
	must(t, r.Begin(true))
	must(t, r.Told(maxNews))
	r.wantStart(t, "1.2.0")
	r = r.as("1.2.0")
	return r, run(t, r, h)
}

func TestTrialProvesItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{ready: errors.New("a lock has not been observed yet"), online: true}
		r, g := trial(t, h)
		g.runsOn(t, 4*time.Minute)
		h.is(func() { h.ready = nil })
		g.runsOn(t, 4*time.Minute)
		h.is(func() { h.online = false }) // counts again
		g.runsOn(t, time.Minute)
		h.is(func() { h.online = true })
		g.runsOn(t, 4*time.Minute)
		if r.OnTrial() == nil {
			t.Fatal("confirmed too early")
		}
		g.runsOn(t, time.Minute+10*time.Second)
		if r.OnTrial() != nil || h.told() != Done+" 1.2.0" {
			t.Errorf("on trial %v, events %s", r.OnTrial(), h.told())
		}
		g.runsOn(t, time.Hour)
		r.wantStart(t, "1.2.0", "1.2.0", "1.2.0", "1.2.0", "1.2.0")
	})
}

func TestTrialGivesUp(t *testing.T) {
	for name, sick := range map[string]*house{
		"has not been observed": {ready: errors.New("a lock has not been observed yet"), online: true},
		"has not moved":         {moves: errors.New("a loop has not moved"), online: true},
		"cloud is not reached":  {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, g := trial(t, sick)
				g.runsOn(t, 14*time.Minute)
				ended, err := g.after(2 * time.Minute)
				if !ended || err == nil || !strings.Contains(err.Error(), name) {
					t.Fatalf("ended %v, %v", ended, err)
				}
				r.wantStart(t, "1.1.0", "1.1.0")
				h := &house{}
				back := run(t, r.as("1.1.0"), h) // tells it
				back.runsOn(t, time.Minute)
				if h.told() != Failed+" 1.2.0" {
					t.Errorf("events %s", h.told())
				}
				if got := r.folders(t); got != "1.1.0" {
					t.Errorf("on the disk: %s", got)
				}
			})
		})
	}
}

// A cloud that was away before proves nothing against a release.
func TestTrialWithoutCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReleases(t)
		must(t, r.take(t, "1.1.0"))
		must(t, r.Begin(false))
		r.wantStart(t, "1.1.0")
		run(t, r.as("1.1.0"), &house{}).runsOn(t, 6*time.Minute)
		r.wantStart(t, "1.1.0", "1.1.0", "1.1.0", "1.1.0", "1.1.0")
	})
}

// Being ended from outside is no failure, and counts as a start.
func TestTrialIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, g := trial(t, &house{online: true})
		g.runsOn(t, time.Minute)
		g.stop()
		if ended, err := g.after(0); !ended || err != nil {
			t.Fatalf("ended %v, %v", ended, err)
		}
		r.wantStart(t, "1.2.0", "1.2.0", "1.1.0")
	})
}

func TestUpdateFromTheCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReleases(t)
		r.Running = "1.1.0"
		h := &house{url: "https://cloud.example/old", busy: "Aurora has a meeting", served: map[string][]byte{
			"https://cloud.example/old": bundle(t, "1.0.0"), "https://cloud.example/cut": bundle(t, "1.2.0")[:9000]}}
		g := run(t, r, h)
		g.runsOn(t, time.Hour)
		h.is(func() { h.url = "https://cloud.example/cut" })
		g.runsOn(t, time.Hour)
		if h.told() != NotTaken+" , "+NotTaken+" " || h.fetched != 2 {
			t.Errorf("told %q, fetched %d times", h.told(), h.fetched)
		}
		h.is(func() { h.url = "https://cloud.example/new" })
		g.runsOn(t, 24*time.Hour)
		if h.fetched < 25 || h.fetched > 35 {
			t.Errorf("what is not there was fetched %d times in a day", h.fetched-2)
		}
		h.is(func() { h.served["https://cloud.example/new"] = bundle(t, "1.2.0"); h.broken = true })
		g.runsOn(t, 2*time.Hour)
		if s := r.State(); s.Next != nil || s.Asked == "https://cloud.example/new" {
			t.Errorf("a line that broke counts: %+v", s)
		}
		h.is(func() { h.broken, h.fetched = false, 0 })
		g.runsOn(t, 2*time.Hour)
		if s := r.State(); s.Next == nil || s.Next.Version != "1.2.0" || h.fetched != 1 {
			t.Errorf("%+v, fetched %d times", s, h.fetched)
		}
		h.is(func() { h.busy = "" })
		if ended, err := g.after(time.Minute); !ended || err != nil {
			t.Fatalf("ended %v, %v", ended, err)
		}
		r.wantStart(t, "1.2.0")
		must(t, r.as("1.2.0").Confirm())
		run(t, r.as("1.2.0"), h).runsOn(t, time.Hour)
		if h.fetched != 1 {
			t.Errorf("fetched again")
		}
	})
}
