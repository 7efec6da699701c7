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

func TestIn(t *testing.T) {
	name := func(f FieldName) string { return map[FieldName]string{"from": "since", "poll": "poll_s"}[f] }
	span := func(s Span) string { return fmt.Sprint(time.Duration(s).Seconds()) }
	for said, e := range map[string]*Error{
		"poll_s is out of range: want 0.05 to 3600": New(Invalid, "poll", "is out of range: want %v to %v", Span(50*time.Millisecond), Span(time.Hour)),
		" 7 is not after since":                     New(Invalid, "to", "%d is not after %v", 7, FieldName("from")),
		"poll_s is odd, and from it stays 90s":      New(Invalid, "poll", "is odd, and from it stays %v", "90s"),
	} {
		if got := e.In(name, span); got.Field+" "+got.Message != said {
			t.Errorf("%v is said as %q, want %q", e, got.Field+" "+got.Message, said)
		}
	}
	for s, want := range map[time.Duration]string{time.Hour: "1h", 50 * time.Millisecond: "50ms", 10 * time.Minute: "10m", 90 * time.Second: "1m30s", 0: "0s"} {
		if got := Span(s).String(); got != want {
			t.Errorf("%v reads %s, want %s", s, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	inner := New(Invalid, "name", "is missing")
	for said, err := range map[string]error{
		"[2].name is missing": inner,
		"[2] is not a rule":   New(Invalid, "", "is not a rule"),
		"the disk is gone":    errors.New("the disk is gone"),
	} {
		if got := At(2, err).Error(); got != said {
			t.Errorf("%q, want %q", got, said)
		}
	}
	if inner.Field != "name" {
		t.Errorf("the refusal that was given has the field %q now", inner.Field)
	}
}
