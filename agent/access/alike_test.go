package access

import (
	"math"
	"testing"

	"roomgate/agent/auth"
)

// cost is what was done for somebody, of which both the time and the disk are made.
type cost struct {
	allocations float64 // each hash, row and letter has some
	commits     int64
}

// TestStrangersCostTheSame: for a user, a stranger and somebody who is kept out the
// same is hashed and written, when a code is asked for, and when a wrong one is
// tried while one is under way and while none is.
func TestStrangersCostTheSame(t *testing.T) {
	names := map[string]string{"user": "mel@example.com", "stranger": "eve@example.com", "kept out": "off@example.com"}
	for what, do := range map[string]struct {
		before, do func(r *rig, email string, i int)
	}{
		"a code is asked for": {do: func(r *rig, email string, i int) {
			if err := r.RequestOTP(r.t.Context(), email, nth(i)); err != nil {
				r.t.Fatal(err)
			}
		}},
		"a wrong one is tried": {func(r *rig, email string, i int) {
			if err := r.RequestOTP(r.t.Context(), email, nth(i)); err != nil {
				r.t.Fatal(err)
			}
		}, func(r *rig, email string, i int) { r.wrong(email, i) }},
		"none is under way": {do: func(r *rig, email string, i int) { r.wrong(email, i) }},
	} {
		t.Run(what, func(t *testing.T) {
			costs := map[string]cost{}
			for who, email := range names {
				for again := range 3 { // what else runs only adds, so the least counts
					r := openRig(t, rigOptions{})
					c := r.costs(email, auth.StrangeRate.Burst-1, do.before, do.do)
					if err := r.Close(); err != nil {
						t.Fatal(err)
					}
					if again == 0 || c.allocations < costs[who].allocations {
						costs[who] = c
					}
				}
			}
			user := costs["user"]
			for who, c := range costs {
				if c.commits != user.commits || math.Abs(c.allocations-user.allocations) > 8 {
					t.Errorf("%s costs %+v, a user %+v", who, c, user)
				}
			}
		})
	}
}

// wrong tries a code that cannot be right.
func (r *rig) wrong(email string, i int) {
	for _, code := range []string{"000000", "000001"} { // one of them may be right
		if token, _, err := r.VerifyOTP(r.t.Context(), email, code, nth(i), ""); err == nil || token != "" {
			r.t.Log("a guess was right")
		}
	}
}

// costs does something n times, each from a network of its own.
func (r *rig) costs(email string, n int, before, do func(r *rig, email string, i int)) (c cost) {
	for i := range n {
		if before != nil {
			before(r, email, i)
		}
	}
	commits, i := r.db.Stats().Commits, 0
	do(r, email, n) // what is made once
	c.allocations = testing.AllocsPerRun(n-1, func() { do(r, email, i); i++ })
	c.commits = r.db.Stats().Commits - commits
	return c
}
