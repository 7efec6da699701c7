package cloud

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// SignedType is the payload type of a signed message: an Envelope as JSON.
const SignedType = "application/cloudevents+json"

// signedMembers are those of an object that is a signed message (DSSE 1.0.2,
// envelope.md).
var signedMembers = []string{"payloadType", "payload", "signatures"}

// Signed is a message in its DSSE envelope, with the one signature that it may
// have. Nothing in it is to be believed before Verify.
type Signed struct {
	Type      string // of the body: SignedType
	Body      []byte // the exact bytes that were signed
	KeyID     string // names the key: KeyID of it
	Signature []byte
}

// wireSigned is Signed as it travels.
type wireSigned struct {
	Type       string          `json:"payloadType"`
	Body       string          `json:"payload"` // base64
	Signatures []wireSignature `json:"signatures"`
}

type wireSignature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"` // base64
}

// KeyID names a public key: the first 8 bytes of its SHA-256, in hexadecimal.
func KeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// toSign are the bytes under a signature: DSSE's "PAE", which leaves no doubt
// where the type ends and the body begins.
func toSign(bodyType string, body []byte) []byte {
	return append(fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(bodyType), bodyType, len(body)), body...)
}

// Sign wraps the bytes of an envelope and signs them.
func Sign(key ed25519.PrivateKey, body []byte) []byte {
	public, _ := key.Public().(ed25519.PublicKey)
	sig := ed25519.Sign(key, toSign(SignedType, body))
	text, _ := json.Marshal(wireSigned{SignedType, base64.StdEncoding.EncodeToString(body), // texts always can be encoded
		[]wireSignature{{KeyID(public), base64.StdEncoding.EncodeToString(sig)}}})
	return text
}

// Verify says whether the signature is by that key, and over this type and body.
func (s Signed) Verify(key ed25519.PublicKey) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, toSign(s.Type, s.Body), s.Signature)
}

// IsSigned says whether a payload is a signed message, or wants to be taken for
// one.
func IsSigned(payload []byte) bool {
	if !bytes.Contains(payload, []byte("ignatures")) { // most are not, and some are large
		return false
	}
	return slices.ContainsFunc(members(payload), func(name string) bool { return strings.EqualFold(name, "signatures") })
}

// ReadSigned takes a signed message apart. It does not verify it. The error is an
// *EnvelopeError.
func ReadSigned(payload []byte) (s Signed, err error) {
	if name := repeated(payload); name != "" {
		return s, &EnvelopeError{name, "is there twice: send it once"}
	}
	for _, name := range members(payload) {
		if !slices.Contains(signedMembers, name) {
			return s, &EnvelopeError{name, "is not known beside a signed payload: want " + strings.Join(signedMembers, ", ")}
		}
	}
	var w wireSigned
	if err := json.Unmarshal(payload, &w); err != nil {
		return s, &EnvelopeError{"", "is signed and cannot be read: " + err.Error()}
	}
	if len(w.Signatures) != 1 {
		return s, &EnvelopeError{"signatures", fmt.Sprintf("are %d: want one", len(w.Signatures))}
	}
	s.Type, s.KeyID = w.Type, w.Signatures[0].KeyID
	if s.Body, err = unbase64(w.Body); err != nil {
		return s, &EnvelopeError{"payload", "is not base64"}
	}
	if s.Signature, err = unbase64(w.Signatures[0].Sig); err != nil {
		return s, &EnvelopeError{"sig", "is not base64"}
	}
	return s, nil
}

// unbase64 takes either alphabet, as DSSE demands of who verifies.
func unbase64(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	return base64.RawStdEncoding.DecodeString(text)
}

// SignedID is the id of the envelope in a signed message that ReadSigned refuses, if
// it can be read; else it is empty. It serves to answer, and nothing else.
func SignedID(payload []byte) string {
	var w wireSigned
	_ = json.Unmarshal(payload, &w) // what it has read until then may do
	body, err := unbase64(w.Body)
	if err != nil {
		return ""
	}
	return onlyID(body).ID
}
