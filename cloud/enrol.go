package cloud

import (
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

// EnrolmentSize is the length of the secret that a claim brings, by which a gateway and
// its cloud know each other when a certificate is asked for: random bits, never sent.
const EnrolmentSize = 32

// NewEnrolment makes such a secret.
func NewEnrolment() []byte {
	secret := make([]byte, EnrolmentSize)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return secret
}

// ErrEnrolment says that something was sealed with another secret, or for another
// topic, or not at all.
var ErrEnrolment = errors.New("the enrolment's secret does not fit")

// Enrolled is the data of up/enrol and down/enrol, sealed so that nobody between the
// gateway and its cloud can ask for a certificate, or place one.
type Enrolled struct {
	Sealed []byte `json:"sealed"` // by the secret of the claim, for its topic
}

// EnrolRequest is what a gateway seals in up/enrol.
type EnrolRequest struct {
	Request []byte `json:"request"` // PKCS#10, in DER
}

// The codes of an answer without a certificate.
const (
	EnrolRevoked = "revoked" // the cloud has taken the gateway's certificates back
	EnrolInvalid = "invalid" // the request cannot be signed
)

// EnrolAnswer is what the cloud seals in down/enrol: a chain, or why there is none.
type EnrolAnswer struct {
	Of     []byte   `json:"of"`              // SHA-256 of the request in DER
	Chain  [][]byte `json:"chain,omitempty"` // in DER, the gateway's own first
	Code   string   `json:"code,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// SealEnrolled seals a request or an answer for a topic: AES-256-GCM behind its nonce of
// 12 bytes, the topic as additional data, under HKDF-SHA256 of the secret with the
// info "roomgate enrol".
func SealEnrolled(secret []byte, topic string, message any) (Enrolled, error) {
	raw, err := json.Marshal(message)
	if err != nil {
		return Enrolled{}, err
	}
	box, err := enrolBox(secret)
	if err != nil {
		return Enrolled{}, err
	}
	return Enrolled{box.Seal(nil, nil, raw, []byte(topic))}, nil
}

// Open reads what was sealed for a topic into message, or returns ErrEnrolment.
func (e Enrolled) Open(secret []byte, topic string, message any) error {
	box, err := enrolBox(secret)
	if err != nil {
		return err
	}
	raw, err := box.Open(nil, nil, e.Sealed, []byte(topic))
	if err != nil {
		return ErrEnrolment
	}
	return json.Unmarshal(raw, message)
}

func enrolBox(secret []byte) (cipher.AEAD, error) {
	if len(secret) != EnrolmentSize {
		return nil, fmt.Errorf("%w: it has %d bytes, want %d", ErrEnrolment, len(secret), EnrolmentSize)
	}
	return boxOf(secret, "roomgate enrol")
}

// OfRequest names a request in its answer.
func OfRequest(der []byte) []byte {
	sum := sha256.Sum256(der)
	return sum[:]
}

// GatewayURI is the name of a gateway in its certificate, beside the id as common name.
func GatewayURI(id string) *url.URL { return &url.URL{Scheme: "urn", Opaque: "roomgate:gateway:" + id} }

// CheckRequest reads a certificate request of a gateway, and refuses that of another one,
// one that its own key has not signed, and any key but one of P-256.
func CheckRequest(gateway string, der []byte) (*x509.CertificateRequest, error) {
	r, err := x509.ParseCertificateRequest(der)
	if err == nil {
		err = r.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate request cannot be read: %w", err)
	}
	if r.Subject.CommonName != gateway {
		return nil, fmt.Errorf("the certificate request is of %q, want %q", r.Subject.CommonName, gateway)
	}
	if key, ok := r.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("the certificate request has another key than one of P-256")
	}
	return r, nil
}
