package calendar

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/outgoing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	january  = onDay("2026-01-01")
	february = onDay("2026-02-01")
)

func weekly() string {
	return calendarOf(eventOf("UID:1", "SUMMARY:A", "DTSTART:20260105T100000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY"))
}

// serve starts a server and a feed for it, and closes both.
func serve(t *testing.T, h http.HandlerFunc) *Feed {
	t.Helper()
	s := httptest.NewServer(h)
	client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
	t.Cleanup(func() { client.CloseIdleConnections(); s.Close() })
	return &Feed{URL: s.URL + "/secret-path/basic.ics", Client: client, random: func() float64 { return 0 }}
}

func TestFetchUnchanged(t *testing.T) {
	var calls, unchanged atomic.Int32
	feed := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
		if r.Header.Get("If-None-Match") == `"one"` && r.Header.Get("If-Modified-Since") != "" {
			unchanged.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, weekly())
	})
	if _, err := feed.Expand(january, february); !errors.Is(err, ErrNoCalendar) {
		t.Errorf("before the first fetch: %v", err)
	}
	first, err := feed.Fetch(t.Context(), january, february)
	if err != nil || first.Unchanged || len(first.Occurrences) != 4 {
		t.Fatalf("%+v, %v", first, err)
	}
	// The window moves by a month: a 304 must not leave the new days empty.
	second, err := feed.Fetch(t.Context(), february, onDay("2026-03-01"))
	if err != nil || !second.Unchanged || len(second.Occurrences) != 4 || second.Occurrences[0].Start != at("2026-02-02T10:00") {
		t.Fatalf("%+v, %v", second, err)
	}
	if calls.Load() != 2 || unchanged.Load() != 1 {
		t.Error(calls.Load(), unchanged.Load())
	}
	if got, err := feed.Expand(january, february); err != nil || len(got.Occurrences) != 4 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFetchSameWithoutETag(t *testing.T) {
	var body atomic.Value
	body.Store(weekly())
	feed := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, body.Load().(string)) })
	for i, want := range []bool{false, true, true} {
		if got, err := feed.Fetch(t.Context(), january, february); err != nil || got.Unchanged != want {
			t.Errorf("fetch %d: unchanged %v, %v", i, got.Unchanged, err)
		}
	}
	body.Store(calendarOf(""))
	if got, err := feed.Fetch(t.Context(), january, february); err != nil || got.Unchanged || len(got.Occurrences) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestFetchTurnedIntoHTML: a sign-in page must neither empty the room nor be
// remembered by its ETag.
func TestFetchTurnedIntoHTML(t *testing.T) {
	var html atomic.Bool
	feed := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if html.Load() {
			w.Header().Set("ETag", `"page"`)
			_, _ = io.WriteString(w, "<!DOCTYPE html><title>Sign in</title>")
			return
		}
		if r.Header.Get("If-None-Match") == `"page"` {
			t.Error("the page's etag was kept")
		}
		w.Header().Set("ETag", `"calendar"`)
		_, _ = io.WriteString(w, weekly())
	})
	if _, err := feed.Fetch(t.Context(), january, february); err != nil {
		t.Fatal(err)
	}
	html.Store(true)
	_, err := feed.Fetch(t.Context(), january, february)
	if !errors.Is(err, ErrNotCalendar) || !strings.Contains(err.Error(), "web page") {
		t.Errorf("%v", err)
	}
	if wait := feed.Next(); wait <= 50*time.Second || wait > time.Minute {
		t.Errorf("next fetch in %v", wait)
	}
	if got, err := feed.Expand(january, february); err != nil || len(got.Occurrences) != 4 {
		t.Errorf("the last good calendar is gone: %+v, %v", got, err)
	}
	html.Store(false)
	if got, err := feed.Fetch(t.Context(), january, february); err != nil || !got.Unchanged {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFetchErrors(t *testing.T) {
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
	}
	var hops atomic.Int32
	tests := []struct {
		name, part string
		handler    http.HandlerFunc
		is         error
		status     int
	}{
		{name: "unauthorized", part: "password", handler: status(401), status: 401},
		{name: "not found", part: "no longer there", handler: status(404), status: 404},
		{name: "server", part: "500 Internal Server Error", handler: status(500), status: 500},
		{name: "no content", part: "204", handler: status(204), status: 204},
		{name: "not modified without a calendar", part: "304", handler: status(304), status: 304},
		{name: "endless redirects", part: "more than 3", handler: func(w http.ResponseWriter, r *http.Request) {
			hops.Add(1)
			http.Redirect(w, r, "/again", http.StatusFound)
		}, is: outgoing.ErrRedirect},
		{name: "redirect to a file", part: "not http", handler: redirect("file:///etc/passwd"), is: outgoing.ErrRedirect},
		{name: "too large", part: "32 MiB", is: ErrTooLarge, handler: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "BEGIN:VCALENDAR\r\n")
			chunk := bytes.Repeat([]byte("X-FILL:0123456789\r\n"), 1<<14)
			for range 200 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}},
		{name: "too large when unpacked", part: "32 MiB", is: ErrTooLarge, handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			piece := pack(make([]byte, 1<<20)) // pieces one after the other are one stream
			for range maxBytes>>20 + 1 {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}},
		{name: "cut off", part: "stops in the middle", is: ErrCutOff, handler: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, strings.TrimSuffix(weekly(), "END:VCALENDAR\r\n"))
		}},
		{name: "broken off", part: "broke off", is: io.ErrUnexpectedEOF, handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = io.WriteString(w, weekly())
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			feed := serve(t, tt.handler)
			feed.URL = strings.Replace(feed.URL, "://", "://ada:hunter2@", 1)
			_, err := feed.Fetch(t.Context(), january, february)
			var fetch *FetchError
			if !errors.As(err, &fetch) || !strings.Contains(err.Error(), tt.part) || fetch.Status != tt.status && tt.status != 0 {
				t.Fatalf("%v", err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
			for _, secret := range []string{"ada", "hunter2", "secret-path", "passwd"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%q shows %q", err, secret)
				}
			}
			if feed.Next() <= 0 {
				t.Error("no back-off")
			}
		})
	}
	if hops.Load() != maxRedirects+1 {
		t.Errorf("%d requests", hops.Load())
	}
}

func TestFetchDowngrade(t *testing.T) {
	feed := &Feed{URL: "https://example.org/a.ics", Client: &http.Client{Transport: scripted(func(r *http.Request) (*http.Response, error) {
		if r.URL.Scheme == "http" {
			t.Error("it went on without encryption")
		}
		return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"http://example.org/token"}}, Body: http.NoBody}, nil
	})}}
	_, err := feed.Fetch(t.Context(), january, february)
	if !errors.Is(err, outgoing.ErrRedirect) || !strings.Contains(err.Error(), "from https to http") || strings.Contains(err.Error(), "token") {
		t.Errorf("%v", err)
	}
}

func TestFetchNobodyThere(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	address := s.URL
	s.Close()
	feed := &Feed{URL: address, Client: NewClient(outgoing.Policy{Anywhere: true})}
	_, err := feed.Fetch(t.Context(), january, february)
	if err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("%v", err)
	}
}

func TestFetchSlowBody(t *testing.T) {
	release := make(chan struct{})
	feed := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "BEGIN:VCALENDAR\r\n")
		w.(http.Flusher).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := feed.Fetch(ctx, january, february)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "in time") {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	before := feed.Next()
	if _, err := feed.Fetch(ctx, january, february); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if after := feed.Next(); after > before {
		t.Errorf("stopping counted as a failure: %v, then %v", before, after)
	}
}

func TestFetchCredentials(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			t.Errorf("referer %q", r.Header.Get("Referer"))
		}
		if _, _, ok := r.BasicAuth(); ok {
			t.Error("the password went to another host")
		}
		_, _ = io.WriteString(w, weekly())
	}))
	defer other.Close()
	feed := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "p@ss" {
			t.Errorf("%q %q", user, password)
		}
		// The same machine by another name, and a password that the server made up.
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "eve:x@localhost", 1), http.StatusFound)
	})
	feed.URL = strings.Replace(feed.URL, "://", "://ada:p%40ss@", 1)
	if _, err := feed.Fetch(t.Context(), january, february); err != nil {
		t.Fatal(err)
	}
	if got := feed.Redacted(); strings.Contains(got, "ada") || strings.Contains(got, "secret") || !strings.HasPrefix(got, "http://127.0.0.1:") {
		t.Error(got)
	}
}

func TestFetchGzip(t *testing.T) {
	feed := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, weekly())
		_ = z.Close()
	})
	for _, unasked := range []bool{false, true} {
		feed.Client.Transport.(*http.Transport).DisableCompression = unasked
		if got, err := feed.Fetch(t.Context(), january, february); err != nil || len(got.Occurrences) != 4 {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestCheckURL(t *testing.T) {
	for raw, part := range map[string]string{
		"https://example.org/a.ics": "", " http://u:p@example.org ": "", "webcal://example.org/a.ics": "https://",
		"file:///etc/passwd": "only http", "ftp://example.org": "only http", "/a.ics": "only http", "https:///a.ics": "host",
		"http://[::1": "cannot be read", "": "only http",
	} {
		err := CheckURL(raw)
		if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
			t.Errorf("%q: %v", raw, err)
		}
		feed := &Feed{URL: raw, Client: &http.Client{Transport: scripted(func(*http.Request) (*http.Response, error) { return nil, io.EOF })}}
		if _, err := feed.Fetch(t.Context(), january, february); err == nil {
			t.Errorf("%q was fetched", raw)
		}
	}
	if got := Redacted("http://[::1"); strings.Contains(got, "::1") {
		t.Error(got)
	}
}

// scripted answers without a network, so that time can be virtual.
type scripted func(*http.Request) (*http.Response, error)

func (s scripted) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status, header := http.StatusOK, http.Header{}
		feed := &Feed{URL: "https://example.org/a.ics", Interval: 3 * time.Minute, random: func() float64 { return 0 }}
		feed.Client = &http.Client{Transport: scripted(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(weekly()))}, nil
		})}
		if got := feed.Next(); got != 0 {
			t.Errorf("before the first: %v", got)
		}
		step := func(want time.Duration) {
			t.Helper()
			_, _ = feed.Fetch(t.Context(), january, february)
			if got := feed.Next(); got != want {
				t.Errorf("next in %v, want %v", got, want)
			}
			time.Sleep(feed.Next())
			if got := feed.Next(); got != 0 {
				t.Errorf("it should be due, next in %v", got)
			}
		}
		step(3 * time.Minute)
		status = http.StatusInternalServerError
		for _, minutes := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60} {
			step(minutes * time.Minute)
		}
		header.Set("Retry-After", "7200")
		step(2 * time.Hour)
		header.Set("Retry-After", "99999999")
		step(longestRetry)
		header.Set("Retry-After", time.Now().Add(90*time.Minute).UTC().Format(http.TimeFormat))
		step(90 * time.Minute)
		header.Set("Date", "Thu, 01 Jan 2026 00:00:00 GMT") // its clock is right for its own date
		header.Set("Retry-After", "Thu, 01 Jan 2026 01:30:00 GMT")
		step(90 * time.Minute)
		header.Set("Retry-After", "5") // shorter than the back-off
		step(time.Hour)
		header.Set("Retry-After", "soon")
		step(time.Hour)
		status = http.StatusOK
		step(3 * time.Minute)
		status, header = http.StatusServiceUnavailable, http.Header{}
		feed.random = func() float64 { return 0.999 }
		_, _ = feed.Fetch(t.Context(), january, february)
		if got := feed.Next(); got < 48*time.Second || got > 49*time.Second {
			t.Errorf("with chance: %v", got)
		}
	})
}
