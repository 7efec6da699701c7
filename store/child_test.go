package store

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

func TestCheckInChild(t *testing.T) {
	check := InChild(os.Args[0])
	damagedFile := func(path string) error { return os.Truncate(path, 6000) }
	intact := func(string) error { return nil }
	cases := map[string]struct {
		mode  string
		check func(context.Context, string) error
		harm  func(string) error
		want  Report
	}{
		"sound":               {"verify", check, intact, Report{}},
		"damaged":             {"verify", check, damagedFile, Report{Quarantined: ".damaged-000001", Restored: ".snapshot-000001"}},
		"cannot start":        {"", InChild("/does/not/exist"), intact, Report{}},
		"cannot start, bad":   {"", InChild("/does/not/exist"), damagedFile, Report{Quarantined: ".damaged-000001", Restored: ".snapshot-000001"}},
		"fails for no reason": {"unknown", check, intact, Report{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv(childMode, c.mode)
			path := filled(t, Options{})
			if err := c.harm(path); err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want.Quarantined != "" {
				want.Quarantined, want.Restored = path+want.Quarantined, path+want.Restored
			}
			_, report := startReport(t, path, Options{Check: c.check})
			if report != want {
				t.Errorf("report %+v, want %+v", report, want)
			}
		})
	}
}

func TestOnlyACrashOfTheChildMeansDamage(t *testing.T) {
	path := filled(t, Options{})
	shell := func(script string) error { return InChild("sh", "-c", script)(context.Background(), path) }
	for _, script := range []string{"kill -SEGV $$", "kill -BUS $$", "echo fatal error: fault >&2; exit 2"} {
		wantError(t, shell(script), ErrDamaged)
	}
	for _, script := range []string{"kill -TERM $$", "kill -KILL $$", "echo unknown command >&2; exit 2", "exit 1"} {
		if err := shell(script); err == nil || errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", script, err)
		}
	}
	t.Setenv(childMode, "crash")
	wantError(t, InChild(os.Args[0])(context.Background(), path), ErrDamaged)
}

func TestStoppedCheckDecidesNothing(t *testing.T) {
	path := filled(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, report, err := Open(ctx, path, Options{Check: InChild("sh", "-c", "exec sleep 60")})
	wantError(t, err, context.Canceled)
	if report != (Report{}) || errors.Is(err, ErrDamaged) {
		t.Errorf("report %+v, %v", report, err)
	}
	if err := Verify(path); err != nil {
		t.Error(err)
	}
}
