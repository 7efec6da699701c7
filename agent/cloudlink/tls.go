package cloudlink

import (
	"crypto/tls"
	"fmt"

	"roomgate/agent/certificate"
)

// TLS trusts the pinned authority if there is one, else the system's. A client
// certificate that was renewed is shown from the next connection on.
func TLS(c Settings) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS13}
	if c.TLS12 {
		t.MinVersion = tls.VersionTLS12
	}
	var err error
	if t.RootCAs, err = certificate.Authorities(c.CAFile); err != nil {
		return nil, fmt.Errorf("read cloud.ca_file: %w", err)
	}
	if c.ClientCertificate != "" {
		own, err := certificate.Read("cloud.client_certificate", c.ClientCertificate, c.ClientKey)
		if err != nil {
			return nil, err
		}
		t.GetClientCertificate = own.Show
	}
	return t, nil
}
