package backend

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"sync/atomic"
	"time"

	"roomgate/cloud"
)

// SigningKey is a public key that a gateway is to believe.
type SigningKey struct {
	// ID is cloud.KeyID of the key. One of a key that the gateway holds already
	// stands for it, without the rest.
	ID        string    `json:"keyid,omitempty"`
	Key       []byte    `json:"key,omitempty"`       // Ed25519, 32 bytes
	NotBefore time.Time `json:"not_before,omitzero"` // zero: valid at once
	NotAfter  time.Time `json:"not_after,omitzero"`  // zero: until it is revoked
	May       []string  `json:"may,omitempty"`       // "command" and "config"; empty: both
}

// Signer signs commands and configurations with a key. It counts what it signs
// from the microseconds since 1970 at its making: no two processes may use one key
// at the same time, as a gateway takes a counter only up to 64 below the highest.
// It may be used by many.
type Signer struct {
	key     ed25519.PrivateKey
	counter atomic.Uint64
}

// NewSigner makes a signer of a key.
func NewSigner(key ed25519.PrivateKey) *Signer {
	s := &Signer{key: key}
	s.counter.Store(uint64(time.Now().UnixMicro()))
	return s
}

// ReadSigner makes a signer of a private key as PEM, PKCS #8, as "roomgate cloud key
// create" and "openssl genpkey -algorithm ed25519" write it.
func ReadSigner(text []byte) (*Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it is no PEM file")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	own, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it is no Ed25519 key")
	}
	return NewSigner(own), nil
}

// WriteKey is a private key as ReadSigner reads it.
func WriteKey(key ed25519.PrivateKey) ([]byte, error) {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), nil
}

// Public is the key as a gateway is to believe it.
func (s *Signer) Public() SigningKey {
	public, _ := s.key.Public().(ed25519.PublicKey)
	return SigningKey{ID: cloud.KeyID(public), Key: public}
}

// Encode is the payload for a topic: the envelope as it is, or if it is a command
// or a configuration, and the signer is not nil, signed.
func (s *Signer) Encode(topic string, e cloud.Envelope) ([]byte, error) {
	_, _, level, _, _ := cloud.ParseTopic(topic)
	level = cloud.PartLevel(level)
	if s == nil || level != cloud.LevelCommand && level != cloud.LevelConfig {
		return e.Encode()
	}
	e.Subject = topic
	if level == cloud.LevelCommand {
		e.Counter = s.counter.Add(1)
	}
	body, err := e.Encode()
	if err != nil {
		return nil, err
	}
	return cloud.Sign(s.key, body), nil
}

// Own reads a message that this key has signed for a topic. ok is false of any other:
// somebody else may have put it there. A nil signer has signed none.
func (s *Signer) Own(topic string, payload []byte) (e cloud.Envelope, ok bool) {
	if s == nil {
		return e, false
	}
	read, err := cloud.ReadSigned(payload)
	if err != nil || !read.Verify(s.Public().Key) {
		return e, false
	}
	e, err = cloud.DecodeLarge(read.Body)
	return e, err == nil && e.Subject == topic
}
