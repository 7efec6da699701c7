package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"roomgate/cloud"
)

// BackendDays is how long a backend's certificate is good: nobody renews it but its owner.
const BackendDays = 365

// backendName is one that no gateway can have, and that a certificate, a file and NATS write alike.
var backendName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}@[A-Za-z0-9_-]{1,20}$`)

// ErrBackend says that a backend is not to be called so.
var ErrBackend = errors.New("is no backend's name: want one with @, as backend@1, which no gateway can have")

func valid(name string) bool { return cloud.ValidGateway(name) || backendName.MatchString(name) }

// Backend makes a key and a certificate for a client that is no gateway, both in PEM. Revoke takes it
// back; those that it had before stay good.
func (a *Authority) Backend(name string) (certificate, key []byte, err error) {
	if !backendName.MatchString(name) {
		return nil, nil, fmt.Errorf("%q %w", name, ErrBackend)
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return nil, nil, err
	}
	err = a.change(name, func(s *stored, _ bool) error {
		c, err := a.certify(name, &url.URL{Scheme: "urn", Opaque: "roomgate:backend:" + name}, BackendDays*24*time.Hour, own.Public())
		if err == nil {
			err = s.hold(held{Serial: c.SerialNumber.Text(16), Until: c.NotAfter}, a.now())
		}
		if err != nil {
			return err
		}
		s.Revoked = time.Time{}
		certificate = append(encode("CERTIFICATE", c.Raw), encode("CERTIFICATE", a.root.Raw)...)
		return nil
	})
	return certificate, encode("PRIVATE KEY", der), err
}
