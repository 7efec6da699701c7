package backend

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Trust is TLS with a broker whose certificate an authority in a file has signed; nil: the file is not
// named, and the system's authorities are believed.
func Trust(file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if !t.RootCAs.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s has no certificate in PEM", file)
	}
	return t, nil
}
