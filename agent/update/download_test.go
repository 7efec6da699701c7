package update

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

const newest = "https://cloud.example/new?signature=secret"

// fetching is a gateway that the cloud wants to have 1.2.0.
func fetching(t *testing.T, h *house) (*Releases, *running) {
	t.Helper()
	h.url, h.busy = newest, "a meeting"
	if h.served == nil {
		h.served = map[string][]byte{newest: bundle(t, "1.2.0")}
	}
	r := newReleases(t)
	return r, run(t, r, h)
}

func (r *Releases) wantArrived(t *testing.T, h *house) {
	t.Helper()
	if s := r.State(); s.Next == nil || s.Next.Version != "1.2.0" || s.Asked != newest {
		t.Errorf("%+v after %v", s, h.from)
	}
	for _, name := range []string{partFile, noteFile} {
		if _, err := os.Stat(r.Dir + "/" + name); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// A line that breaks again and again brings the bundle all the same, also over
// power cuts.
func TestDownloadGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{broken: true, tag: `"1"`}
		r, g := fetching(t, h)
		g.runsOn(t, 10*time.Minute)
		g.want(t, "halfway", "roomgate_update_fetch_failing 1", "https://cloud.example/new cannot be fetched, 0.0 MB of 0.1 are here, it is tried again: unexpected EOF")
		g.stop()
		if ended, err := g.after(0); !ended || err != nil {
			t.Fatalf("ended %v, %v", ended, err)
		}
		g = run(t, r, h)
		g.runsOn(t, 8*time.Hour)
		r.wantArrived(t, h)
		if want := []int64{0, 9000, 18000, 27000, 36000, 45000, 54000, 63000}; !slices.Equal(h.from, want) {
			t.Errorf("served from %v", h.from)
		}
		g.want(t, "in the end", "roomgate_update_fetch_failing 0", "roomgate_update_fetched_bytes 0")
	})
}

// What cannot go on, or is another bundle by then, begins again.
func TestDownloadBeginsAnew(t *testing.T) {
	for name, now := range map[string]string{"it has no name": "", "it has changed": `"2"`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &house{broken: true}
				if now != "" {
					h.tag = `"1"`
				}
				r, g := fetching(t, h)
				g.runsOn(t, 30*time.Second)
				h.is(func() { h.broken, h.tag = false, now })
				g.runsOn(t, 10*time.Minute)
				r.wantArrived(t, h)
				if !slices.Equal(h.from, []int64{0, 0}) {
					t.Errorf("served from %v", h.from)
				}
			})
		})
	}
}

// A power cut may leave anything at the end of a file: what is pieced together is
// not trusted, and brought once more in one.
func TestDownloadIsNotTrusted(t *testing.T) {
	for name, spoil := range map[string]func(data []byte) []byte{
		"zeros at the end":   func(d []byte) []byte { clear(d[len(d)/2:]); return d },
		"too much":           func(d []byte) []byte { return append(d, "and more"...) },
		"one bit":            func(d []byte) []byte { d[7000] ^= 1; return d },
		"an empty file":      func([]byte) []byte { return nil },
		"another bundle":     func(d []byte) []byte { return bytes.Repeat([]byte{1}, len(d)) },
		"the note is broken": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &house{broken: true, tag: `"1"`}
				r, g := fetching(t, h)
				g.runsOn(t, 30*time.Second)
				g.stop()
				g.after(0)
				if spoil == nil {
					must(t, os.WriteFile(r.Dir+"/"+noteFile, []byte("{"), 0o600))
				} else {
					data, err := os.ReadFile(r.partPath())
					must(t, err)
					must(t, os.WriteFile(r.partPath(), spoil(data), 0o600))
				}
				h.is(func() { h.broken = false })
				g = run(t, r, h)
				g.runsOn(t, 10*time.Minute)
				r.wantArrived(t, h)
				if told := h.told(); told != Installed+" 1.2.0" {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

// A bundle that is damaged where it lies is refused, once.
func TestDownloadOfADamagedBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{tag: `"1"`}
		_, g := fetching(t, h)
		g.stop()
		g.after(0)
		damaged := bytes.Clone(bundle(t, "1.2.0"))
		damaged[len(damaged)-40] ^= 1
		h.is(func() { h.served[newest], h.broken = damaged, true })
		g = run(t, newReleases(t), h)
		g.runsOn(t, 30*time.Second)
		h.is(func() { h.broken = false })
		g.runsOn(t, 8*time.Hour)
		s := g.State()
		if s.Refused == nil || s.Refused.Cause != Corrupt || s.Refused.URL != "https://cloud.example/new" || s.Asked != newest {
			t.Errorf("%+v, %+v", s, s.Refused)
		}
		if n := len(h.from); n > 4 {
			t.Errorf("served from %v", h.from)
		}
	})
}

// Where there is none it is asked for some hours, and then no more.
func TestDownloadOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{served: map[string][]byte{newest: nil}}
		r, g := fetching(t, h)
		g.runsOn(t, 12*time.Hour)
		if s := r.State(); s.Refused == nil || s.Refused.Cause != NotThere || h.fetched < 8 || h.fetched > 11 {
			t.Errorf("%+v, asked %d times", s.Refused, h.fetched)
		}
	})
}

// What the cloud no longer wants is not kept.
func TestDownloadIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{broken: true, tag: `"1"`}
		r, g := fetching(t, h)
		g.runsOn(t, time.Minute)
		if _, have := r.halfway(newest); have == 0 {
			t.Fatal("nothing has arrived")
		}
		h.is(func() { h.url = "" })
		g.runsOn(t, time.Minute)
		if _, err := os.Stat(r.partPath()); err == nil {
			t.Error("a part is left")
		}
	})
}
