package main

import (
	"bytes"
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
	"roomgate/agent/update"
	"roomgate/agent/webhook"
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
		if got := config.DataIn(path); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := config.DataIn("/nowhere/gateway.yaml"); got != config.Default().Data {
		t.Errorf("no file: %s", got)
	}
}

// A cloud that was taken over must not make the gateway speak to its neighbours.
func TestBundlesComeFromOutside(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer s.Close()
	fetch := fetchBundle(webhook.NewClient(webhook.Policy{AllowPrivate: true}))
	if _, err := fetch(t.Context(), s.URL); err == nil || !strings.Contains(err.Error(), "is no address of a receiver") {
		t.Errorf("got %v", err)
	}
}
