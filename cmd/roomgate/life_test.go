package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestKeyExpiresByGateway: a key is valid for as long as was said by the clock of the
// gateway, not of whoever asks for it.
func TestKeyExpiresByGateway(t *testing.T) {
	t.Parallel()
	there := time.Date(2036, 1, 1, 10, 0, 0, 0, time.UTC)
	var ask struct {
		Expires time.Time `json:"expires_at"`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", there.Format(http.TimeFormat))
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
				t.Error(err)
			}
		}
		io.WriteString(w, `{"key":{"id":"k"},"secret":"s"}`)
	}))
	defer server.Close()
	root := newRoot()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.SetArgs([]string{"key", "create", "month", "--expires", "30d", "--url", server.URL, "--key", "any"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := there.Add(30 * 24 * time.Hour); !ask.Expires.Equal(want) {
		t.Errorf("got %s, want %s", ask.Expires, want)
	}
}

func TestLife(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]time.Duration{"8h": 8 * time.Hour, "7d": 168 * time.Hour, "-1d": -24 * time.Hour, "0": 0,
		"d": -1, "1.5d": -1, "999999999d": -1, "99999999999999999999d": -1, "soon": -1} {
		var l life
		if err := l.Set(word); (err != nil) != (want == -1) || err == nil && time.Duration(l) != want {
			t.Errorf("%q: got %v and %v", word, time.Duration(l), err)
		}
	}
}
