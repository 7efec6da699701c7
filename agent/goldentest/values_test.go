package goldentest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// heard stands for a test, and keeps what failed.
type heard []string

func (h *heard) Helper() {}
func (h *heard) Errorf(format string, args ...any) {
	*h = append(*h, fmt.Sprintf(format, args...))
}

// secret is a text that is not printed.
type secret string

func (secret) String() string { return "***" }

func TestValues(t *testing.T) {
	type word string
	var h heard
	Values(&h, "booked", Pairs{"state": {word("booked"), "booked"}, "revision": {uint64(1), 1}, "end": {(*string)(nil), nil}})
	Values(&h, "booked", Pairs{"private": {true, false}})
	Values(&h, "key", Pairs{"secret": {secret("a"), secret("b")}})
	if diff := cmp.Diff(heard{"booked: private is true, want false", "key: secret is ***, want ***"}, h); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
}
