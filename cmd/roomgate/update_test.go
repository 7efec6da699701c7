package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/agent/outgoing"
	"roomgate/agent/update"
)

// release makes a bundle of a script that stands for a binary:
// release VERSION KEYFILE SCRIPT BUNDLE [ARCHITECTURE]
func release(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: release VERSION KEYFILE SCRIPT BUNDLE [ARCHITECTURE]")
	}
	key, err := update.ReadKey(ts.MkAbs(args[1]))
	ts.Check(err)
	m := update.Manifest{Version: args[0], OS: runtime.GOOS, Arch: runtime.GOARCH, Schema: agent.Schema, Created: time.Now()}
	if len(args) > 4 {
		m.Arch = args[4]
	}
	var b bytes.Buffer
	ts.Check(update.Write(&b, m, []byte(ts.ReadFile(args[2])), key))
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), b.Bytes(), 0o600))
}

// The package may be older than the configuration, and must find the releases
// all the same.
func TestDataOfAnyConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"data: /srv/rooms\nnew_in_2_0: {a: [1]}\nspaces: 7": "/srv/rooms",
		"gateway: {id: g}": config.Default().Data,
		"data: [":          config.Default().Data,
		"data: {a: b}":     config.Default().Data,
	} {
		path := filepath.Join(t.TempDir(), "gateway.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := config.BasicsIn(path).Data; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := config.BasicsIn("/nowhere/gateway.yaml").Data; got != config.Default().Data {
		t.Errorf("no file: %s", got)
	}
}

// A cloud that was taken over must not make the gateway speak to its neighbours.
func TestBundlesComeFromOutside(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer s.Close()
	fetch := fetchBundle(updateClient())
	_, err := fetch(t.Context(), s.URL+"/?key=secret", 0, "")
	var refused *outgoing.AddressError
	if !errors.As(err, &refused) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

// A server that can send a part is asked for the rest, if it still is the same.
func TestBundlesAreFetchedOn(t *testing.T) {
	text, tag := "what is in a bundle", `"one"`
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		case "/wrong":
			w.Header().Set("Content-Range", "bytes 3-18/19")
			w.WriteHeader(http.StatusPartialContent)
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.Header().Set("ETag", tag)
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
		}
	}))
	defer s.Close()
	fetch := fetchBundle(s.Client())
	for _, c := range []struct {
		path      string
		from      int64
		validator string
		tag       string // of the server now
		want      string // offset, size, validator, bytes; or the error
	}{
		{"/", 0, "", `"one"`, `0 19 "one" what is in a bundle`},
		{"/", 8, `"one"`, `"one"`, `8 19 "one" in a bundle`},
		{"/", 8, `"one"`, `"two"`, `0 19 "two" what is in a bundle`},
		{"/", 19, `"one"`, `"one"`, `0 19 "one" what is in a bundle`},
		{"/", 0, "", `W/"weak"`, `0 19  what is in a bundle`},
		{"/gone", 0, "", "", "the server answers 404"},
		{"/wrong", 8, `"one"`, "", "and from 8 on was asked for"},
		{"/busy", 0, "", "", "the server answers 503"},
	} {
		tag = c.tag
		body, err := fetch(t.Context(), s.URL+c.path, c.from, c.validator)
		got := fmt.Sprint(err)
		if err == nil {
			data, err := io.ReadAll(body)
			got = fmt.Sprint(body.From, " ", body.Size, " ", body.Validator, " ", string(data), err)
			c.want += "<nil>"
			body.Close()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s from %d: %s, want %s", c.path, c.from, got, c.want)
		}
		if missing := (*update.Refused)(nil); errors.As(err, &missing) != (c.path == "/gone") {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}

// A reset to factory state takes the releases along.
func TestTracesHaveReleases(t *testing.T) {
	data := t.TempDir()
	for _, name := range []string{update.Dir, "mine"} {
		if err := os.Mkdir(filepath.Join(data, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ours, others, err := traces(data)
	if err != nil || len(ours) != 1 || filepath.Base(ours[0]) != update.Dir || len(others) != 1 {
		t.Errorf("ours are %q, others %q: %v", ours, others, err)
	}
}
