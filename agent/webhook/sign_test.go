package webhook

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"
)

// TestKnownSignature is the vector that GitHub publishes for the same
// signature over a body.
func TestKnownSignature(t *testing.T) {
	h := http.Header{}
	sign(h, "id", []byte("Hello, World!"), []Secret{"It's a Secret to Everybody"}, noon)
	if got := h.Get(HeaderSignature); got != "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" {
		t.Errorf("signed as %s", got)
	}
	if h.Get(HeaderPrevious) != "" {
		t.Error("a second signature without a rotation")
	}
}

// verifier is the independent library's, for a secret as its owner holds it.
func verifier(t *rapid.T, s Secret) *standard.Webhook {
	if strings.HasPrefix(string(s), secretPrefix) {
		w, err := standard.NewWebhook(string(s))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w, _ := standard.NewWebhookRaw([]byte(s))
	return w
}

func TestStandardLibraryVerifies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfNDistinct(rapid.OneOf(rapid.Map(rapid.SliceOfN(rapid.Byte(), 24, 64), func(b []byte) Secret { return Secret(secretPrefix + base64.StdEncoding.EncodeToString(b)) }),
			rapid.Map(rapid.StringMatching(`[ -~]{8,64}`), func(s string) Secret { return Secret(s) }).
				Filter(func(s Secret) bool { return s.check() == nil })), 1, 2, func(s Secret) Secret { return s }).Draw(t, "secrets")
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		h := http.Header{}
		sign(h, "0000000001-abc", body, secrets, time.Now())
		for _, s := range secrets {
			if err := verifier(t, s).Verify(body, h); err != nil {
				t.Errorf("a secret in use: %v", err)
			}
			if verifier(t, s).Verify(append(body, 'x'), h) == nil {
				t.Error("another body is taken")
			}
		}
		if verifier(t, NewSecret()).Verify(body, h) == nil {
			t.Error("another secret is taken")
		}
	})
}

func TestRotation(t *testing.T) {
	first := Secrets{Current: "first secret"}
	second, err := first.Rotate("second secret", time.Hour, noon)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.At(noon.Add(59 * time.Minute)); len(got) != 2 || got[0] != "second secret" || got[1] != "first secret" {
		t.Errorf("%d secrets sign during the overlap", len(got))
	}
	if got := second.At(noon.Add(time.Hour)); len(got) != 1 || got[0] != "second secret" {
		t.Errorf("%d secrets sign after it", len(got))
	}
	third, err := second.Rotate("", time.Hour, noon.Add(time.Minute))
	if got := third.At(noon.Add(2 * time.Minute)); err != nil || len(got) != 2 || got[1] != "second secret" || got[0].check() != nil {
		t.Errorf("rotated again: %v, %v", got, err)
	}
	at := third.At(noon.Add(2 * time.Minute))
	h := http.Header{}
	sign(h, "id", []byte("{}"), at, noon)
	one, other := http.Header{}, http.Header{}
	sign(one, "id", []byte("{}"), at[:1], noon)
	sign(other, "id", []byte("{}"), at[1:], noon)
	if h.Get(HeaderSignature) != one.Get(HeaderSignature) || h.Get(HeaderPrevious) != other.Get(HeaderSignature) {
		t.Error("the platform's header must be the new secret's, and the old one's beside it")
	}
	if h.Get(HeaderStandardSignature) != one.Get(HeaderStandardSignature)+" "+other.Get(HeaderStandardSignature) {
		t.Error("the standard header must hold both")
	}
	if leaked, err := first.Rotate("", 0, noon); err != nil || len(leaked.At(noon)) != 1 || leaked.Current == first.Current || leaked.Previous != "" {
		t.Errorf("without overlap: %v, %v", leaked, err)
	}
	_, err = first.Rotate("first secret", 0, noon)
	wantField(t, "the same secret", err, "secret")
	_, err = first.Rotate("short", 0, noon)
	wantField(t, "a short secret", err, "secret")
	_, err = first.Rotate("", -1, noon)
	wantField(t, "a negative overlap", err, "overlap")
	_, err = first.Rotate("", 31*24*time.Hour, noon)
	wantField(t, "a long overlap", err, "overlap")
}

func TestPayloadIsThePlatforms(t *testing.T) {
	body, err := Encode(BookingStart, noon, "w1", BookingData{"b1", "s1", "o1", "2026-11-20T12:00:00.000Z", "2026-11-20T12:30:00.000Z",
		Organizer{"Ada", "ada@example.com"}})
	want := `{"event":"booking.start","timestamp":"2026-11-20T12:00:00.000Z","webhook_id":"w1","data":{"booking_id":"b1",` +
		`"meeting_space_id":"s1","organization_id":"o1","start_time":"2026-11-20T12:00:00.000Z","end_time":"2026-11-20T12:30:00.000Z",` +
		`"organizer":{"name":"Ada","email":"ada@example.com"}}}`
	if err != nil || string(body) != want {
		t.Errorf("%s, %v, want %s", body, err, want)
	}
}
