package problem

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestAs(t *testing.T) {
	e := New(Invalid, "ttl_s", "is %d: want 1 or more", 0)
	if got := As(fmt.Errorf("command c1: %w", e)); got != e || got.Error() != "ttl_s is 0: want 1 or more" {
		t.Errorf("found %v", got)
	}
	if got := New(NotFound, "", "no such device").Error(); got != "no such device" {
		t.Errorf("without a field it reads %q", got)
	}
	for _, err := range []error{nil, errors.New("the disk is gone")} {
		if got := As(err); got != nil {
			t.Errorf("found %v in %v", got, err)
		}
	}
}

func TestTooOften(t *testing.T) {
	slow := TooOften("too many tries", 1500*time.Millisecond)
	if slow.After != 2*time.Second || slow.Error() != "too many tries: try again in 2s" || As(slow).Code != TooMany {
		t.Errorf("%+v", slow)
	}
}
