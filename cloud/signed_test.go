package cloud

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// The vector that other languages are held to as well.
const (
	vectorSeed      = "roomgate test vector 1: not a secret" // its SHA-256 is the seed
	vectorPublic    = "Qw8YwI9NaH/RhL/H4JMZ6796jQWGc5KqWCfFKZMntGM="
	vectorKeyID     = "7177ac986170fa7a"
	vectorSHA256    = "0270c124c744a3d5ec5d24fd2e3b808a726d620109c1c5a2a9bb809fe7910e0a"
	vectorSignature = "FkCWFZNwIhVoH0nFqaQpjpC5DvCk4urMiKyXwvqM7ZgBxH9YFLqGpqXG1Illn/ds2G9S5XIjhzft/FNw7/Q7Dg=="
	vectorBody      = `{"specversion":"1.0","id":"01JD9Z6N3W8W1Q6V3K8Z2T5R4M","source":"backend/eu-1","type":"roomgate.command","subject":"roomgate/v1/hq/down/command","time":"2026-11-22T22:00:00Z","counter":42,"data":{"meeting_space_id":"7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01","device_type":"lock","action":"open","expires_at":"2026-11-22T22:00:30Z"}}`
)

func vectorKey() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(vectorSeed))
	return ed25519.NewKeyFromSeed(seed[:])
}

func TestSignedVector(t *testing.T) {
	key := vectorKey()
	public := key.Public().(ed25519.PublicKey)
	if got := base64.StdEncoding.EncodeToString(public); got != vectorPublic {
		t.Errorf("the public key is %s", got)
	}
	if got := KeyID(public); got != vectorKeyID {
		t.Errorf("the key is named %s", got)
	}
	if sum := sha256.Sum256([]byte(vectorBody)); len(vectorBody) != 328 || hex.EncodeToString(sum[:]) != vectorSHA256 {
		t.Errorf("the body has %d bytes with %x", len(vectorBody), sum)
	}
	payload := Sign(key, []byte(vectorBody))
	if !IsSigned(payload) || IsSigned([]byte(vectorBody)) || len(payload) != 640 {
		t.Errorf("%d bytes, taken for signed: %v", len(payload), IsSigned(payload))
	}
	s, err := ReadSigned(payload)
	if err != nil || !s.Verify(public) {
		t.Errorf("read %+v, %v, verified: %v", s, err, s.Verify(public))
	}
	for what, v := range map[string][2]string{"type": {s.Type, SignedType}, "key": {s.KeyID, vectorKeyID}, "body": {string(s.Body), vectorBody},
		"signature": {base64.StdEncoding.EncodeToString(s.Signature), vectorSignature}} {
		if v[0] != v[1] {
			t.Errorf("the %s is %q, want %q", what, v[0], v[1])
		}
	}
	e, err := Decode(s.Body)
	if err != nil || e.Counter != 42 || e.Subject != "roomgate/v1/hq/down/command" || CheckAttributes(s.Body) != nil {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestSignatureIsOverEverything: a changed bit of type, body, key or signature is
// noticed, and so is a byte that moves from one to the other.
func TestSignatureIsOverEverything(t *testing.T) {
	key := vectorKey()
	public := key.Public().(ed25519.PublicKey)
	good, err := ReadSigned(Sign(key, []byte(vectorBody)))
	if err != nil || !good.Verify(public) {
		t.Fatal(err)
	}
	other := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	changed := []byte(strings.Replace(vectorBody, `"counter":42`, `"counter":43`, 1))
	for what, s := range map[string]Signed{
		"counter": {good.Type, changed, good.KeyID, good.Signature},
		"type":    {"application/json", good.Body, good.KeyID, good.Signature},
		"moved":   {good.Type + " 328 {", good.Body[1:], good.KeyID, good.Signature},
		"bit":     {good.Type, good.Body, good.KeyID, append([]byte{good.Signature[0] ^ 1}, good.Signature[1:]...)},
		"short":   {good.Type, good.Body, good.KeyID, good.Signature[:63]},
		"none":    {good.Type, good.Body, good.KeyID, nil},
	} {
		if s.Verify(public) {
			t.Errorf("%s: verified", what)
		}
	}
	if good.Verify(other) || good.Verify(nil) {
		t.Error("verified by another key")
	}
}

func TestSignedMessagesThatCannotBeRead(t *testing.T) {
	sig := `{"keyid":"k","sig":"AA=="}`
	for payload, field := range map[string]string{
		`{"payloadType":"t","payload":"AA==","signatures":[]}`:                                "signatures",
		`{"payloadType":"t","payload":"AA==","signatures":null}`:                              "signatures",
		`{"payloadType":"t","payload":"AA==","signatures":[` + sig + `,` + sig + `]}`:         "signatures",
		`{"payloadType":"t","payload":"!","signatures":[` + sig + `]}`:                        "payload",
		`{"payloadType":"t","payload":"AA==","signatures":[{"keyid":"k","sig":"?"}]}`:         "sig",
		`{"payloadType":"t","payload":7,"signatures":[` + sig + `]}`:                          "",
		`{"payloadType":"t","payload":"AA==","Payload":"AQ==","signatures":[` + sig + `]}`:    "Payload",
		`{"payloadType":"t","payload":"AA==","signatures":[` + sig + `],"signatures":[]}`:     "signatures",
		`{"payloadType":"t","payload":"AA==","signatures":[` + sig + `],"specversion":"1.0"}`: "specversion",
	} {
		_, err := ReadSigned([]byte(payload))
		wrong := new(EnvelopeError)
		if !errors.As(err, &wrong) || wrong.Field != field || !IsSigned([]byte(payload)) {
			t.Errorf("%s: %v, want one of %q", payload, err, field)
		}
	}
}

// TestSignedTakesBothAlphabets: DSSE leaves the choice to who signs.
func TestSignedTakesBothAlphabets(t *testing.T) {
	body := []byte{'{', '}', 0xfb, 0xff, 0xfe}
	s, err := ReadSigned(Sign(vectorKey(), body))
	if err != nil {
		t.Fatal(err)
	}
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		text, _ := json.Marshal(wireSigned{s.Type, alphabet.EncodeToString(s.Body), []wireSignature{{s.KeyID, alphabet.EncodeToString(s.Signature)}}})
		again, err := ReadSigned(text)
		if err != nil || !again.Verify(vectorKey().Public().(ed25519.PublicKey)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzReadSigned(f *testing.F) {
	f.Add(Sign(vectorKey(), []byte(vectorBody)))
	f.Add([]byte(`{"payloadType":"","payload":"","signatures":[{}]}`))
	public := vectorKey().Public().(ed25519.PublicKey)
	f.Fuzz(func(t *testing.T, payload []byte) {
		s, err := ReadSigned(payload)
		if err == nil && s.Verify(public) && string(s.Body) != vectorBody {
			t.Errorf("%q has a signature that nobody made", s.Body)
		}
	})
}
