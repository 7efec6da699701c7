package api

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"roomgate/agent/problem"
)

// rootFile gives the root certificate of the building's own authority to a phone,
// which shows its fingerprint and asks whether to trust it (RFC 2585 section 4.1
// has no type for a root; this is the one that phones know).
func rootFile(s *Server, c *call) error {
	if s.root == nil {
		return &problem.Error{Code: problem.NotFound, Message: "this gateway has no authority of its own: roomgate tls init makes one"}
	}
	return c.text("application/x-x509-ca-cert", s.root())
}

// plainPaths are what is needed before there is trust in the certificate, and what
// supervisors ask. None of them takes a credential.
var plainPaths = []string{"/ca.crt", "/healthz", "/readyz"}

// Redirect sends all other requests to the same address by HTTPS at that port, with
// their method and body (RFC 9110 section 15.4.9).
func Redirect(h http.Handler, port string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(plainPaths, r.URL.Path) {
			h.ServeHTTP(w, r)
			return
		}
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]") // without a port
		}
		if host == "" {
			http.Error(w, "this gateway is reached by https, and the request has no Host to send it to", http.StatusBadRequest)
			return
		}
		to := *r.URL
		to.Scheme, to.Host, to.User = "https", net.JoinHostPort(host, port), nil
		w.Header().Set("Location", to.String())
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
}
