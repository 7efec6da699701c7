package api

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// rootOfTests is that of the building of the tests.
const rootOfTests = "-----BEGIN CERTIFICATE-----"

func TestRootForPhones(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		got := b.net.do(t, "GET", "/ca.crt")
		if got.StatusCode != 200 || got.Header.Get("Content-Type") != "application/x-x509-ca-cert" || got.body != rootOfTests {
			t.Errorf("%d %v %s", got.StatusCode, got.Header, got.body)
		}
		b.server.root = nil
		checkProblem(t, "without an authority", b.net.do(t, "GET", "/ca.crt"), 404, "not_found", "")
	})
}

// Whoever comes by HTTP is sent to the same host by HTTPS, whatever the request
// says of hosts elsewhere; what phones and supervisors need is served.
func TestRedirect(t *testing.T) {
	h := Redirect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), "8443")
	for _, c := range []struct {
		request string // line and Host
		want    string // empty: it is served
		status  int
	}{
		{"GET /ca.crt HTTP/1.1\r\nHost: gate.local:8080", "", http.StatusTeapot},
		{"GET /healthz HTTP/1.1\r\nHost: gate.local:8080", "", http.StatusTeapot},
		{"GET /readyz HTTP/1.1\r\nHost: gate.local:8080", "", http.StatusTeapot},
		{"GET /metrics HTTP/1.1\r\nHost: gate.local:8080", "https://gate.local:8443/metrics", 308},
		{"POST /devices?x=%2f&y HTTP/1.1\r\nHost: gate.local", "https://gate.local:8443/devices?x=%2f&y", 308},
		{"GET / HTTP/1.1\r\nHost: [fd00::20]:8080", "https://[fd00::20]:8443/", 308},
		{"GET / HTTP/1.1\r\nHost: [fd00::20]", "https://[fd00::20]:8443/", 308},
		{"GET //evil.example/ HTTP/1.1\r\nHost: 192.168.1.20", "https://192.168.1.20:8443//evil.example/", 308},
		{"GET /ca.crt/../metrics HTTP/1.1\r\nHost: h", "https://h:8443/ca.crt/../metrics", 308},
		{"GET http://u:p@h/x HTTP/1.1\r\nHost: h", "https://h:8443/x", 308},
		{"GET / HTTP/1.1\r\nHost:", "", 400},
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(c.request + "\r\n\r\n")))
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("Location") != c.want {
			t.Errorf("%s: %d %s, want %d %s", c.request, w.Code, w.Header().Get("Location"), c.status, c.want)
		}
	}
}
