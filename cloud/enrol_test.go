package cloud

import (
	"bytes"
	"errors"
	"testing"
)

// What a gateway and its cloud say of certificates is for them and for one topic.
func TestOnlyTheSecretOfTheClaimOpens(t *testing.T) {
	secret, topic := NewEnrolment(), Topics{Gateway: "g"}.Down(LevelEnrol)
	sealed, err := SealEnrolled(secret, topic, EnrolAnswer{Code: EnrolRevoked})
	if err != nil {
		t.Fatal(err)
	}
	var said EnrolAnswer
	if err := sealed.Open(secret, topic, &said); err != nil || said.Code != EnrolRevoked {
		t.Errorf("%+v, %v", said, err)
	}
	for name, err := range map[string]error{
		"another secret": sealed.Open(NewEnrolment(), topic, &said), "another gateway": sealed.Open(secret, Topics{Gateway: "h"}.Down(LevelEnrol), &said),
		"the other way": sealed.Open(secret, Topics{Gateway: "g"}.Up(LevelEnrol), &said), "no secret": sealed.Open(nil, topic, &said), "nothing": Enrolled{}.Open(secret, topic, &said)} {
		if !errors.Is(err, ErrEnrolment) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range sealed.Sealed {
		broken := Enrolled{bytes.Clone(sealed.Sealed)}
		broken.Sealed[i] ^= 1
		if err := broken.Open(secret, topic, &said); !errors.Is(err, ErrEnrolment) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	if _, err := SealEnrolled([]byte("short"), topic, said); !errors.Is(err, ErrEnrolment) {
		t.Errorf("a short secret: %v", err)
	}
}
