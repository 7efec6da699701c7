package agent

import (
	"crypto/x509"
	"log/slog"
	"net/http"

	"roomgate/agent/certificate"
	"roomgate/agent/config"
	"roomgate/agent/push"
)

// pushGateway is the configured one, nil without one. It is reached with the
// client, or if that is nil as the configuration says.
func pushGateway(c config.Push, client *http.Client, log *slog.Logger) *push.Gateway {
	if c.URL == "" {
		return nil
	}
	if client == nil {
		client = push.NewClient(pushAuthorities(c, log))
	}
	return push.New(c.URL, func() (string, error) { return c.Token.Reveal(c.TokenFile) }, client)
}

// pushAuthorities are those that the configuration trusts; nil: the system's. A
// file that cannot be read is no reason not to start: then nothing is sent.
func pushAuthorities(c config.Push, log *slog.Logger) *x509.CertPool {
	pool, err := certificate.Authorities(c.CAFile)
	if err != nil {
		log.Error("push.ca_file cannot be read, so no push gateway is trusted: correct it and start again", "file", c.CAFile, "error", err)
		return x509.NewCertPool()
	}
	return pool
}
