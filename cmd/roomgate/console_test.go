package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestConsoleInAPipe: who reads the link from a pipe gets no picture of it and no colours.
func TestConsoleInAPipe(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"link":"http://127.0.0.1:8080/console#code=AAAA-BBBB","code":"AAAA-BBBB","expires_in_s":600}`)
	}))
	defer s.Close()
	var out bytes.Buffer
	cmd := newConsole()
	cmd.SetOut(&out)
	cmd.SetContext(t.Context())
	if err := runConsole(cmd, overHTTP(s.URL, "", "the gateway"), nil); err != nil {
		t.Fatal(err)
	}
	const want = "open http://127.0.0.1:8080/console#code=AAAA-BBBB\nit signs in once, within 10 minutes; the code to type is AAAA-BBBB\n"
	if out.String() != want {
		t.Errorf("a pipe got %q, want %q", out.String(), want)
	}
}
