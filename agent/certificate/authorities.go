package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"roomgate/agent/atomicfile"
)

// maxFile bounds a file in bytes. All authorities of a Debian have 220 kB.
const maxFile = 4 << 20

// ReadFile reads a file of certificates or a key. A pipe or a device in its place would keep
// who reads it waiting for what nobody writes.
func ReadFile(path string) ([]byte, error) {
	raw, err := atomicfile.Read(path, os.O_RDONLY, maxFile)
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s has more than %d MiB", path, maxFile>>20)
	}
	return raw, err
}

// ReadPair reads a certificate and its key.
func ReadPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := ReadFile(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// Authorities are those that a file trusts; of no file nil, which are the system's.
func Authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return pool, nil
}
