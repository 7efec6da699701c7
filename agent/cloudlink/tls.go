package cloudlink

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"roomgate/agent/certificate"
)

// TLS trusts the pinned authority if there is one, else the system's. A client
// certificate that was renewed is shown from the next connection on.
func TLS(c Settings) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS13}
	if c.TLS12 {
		t.MinVersion = tls.VersionTLS12
	}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read cloud.ca_file: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cloud.ca_file %s holds no certificate", c.CAFile)
		}
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
