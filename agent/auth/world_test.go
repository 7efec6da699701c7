package auth

import (
	"testing"
	"time"
)

const day = 24 * time.Hour

// noon is when the tests' clock was right.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// at is a moment of the first run, by a trusted clock.
func at(up time.Duration) Moment {
	return Moment{Boot: "one", Up: up, Milli: noon.Add(up).UnixMilli(), Trusted: true}
}

// after is a moment of the next run.
func after(up time.Duration, trusted bool) Moment {
	m := at(up)
	m.Boot, m.Up, m.Trusted = "two", 0, trusted
	if !trusted {
		m.Milli = 0
	}
	return m
}

func testKeys(t testing.TB) *Keys {
	t.Helper()
	k, err := NewKeys([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}
