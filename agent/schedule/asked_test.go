package schedule

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// TestSnapshotIsAskedForOnce: for each revision that the space has, and again each minute, however many messages leave a gap.
func TestSnapshotIsAskedForOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		asked := func() (n int) {
			for _, e := range r.told() {
				if e == eventSnapshotWanted {
					n++
				}
			}
			return n
		}
		flood := func(revision int64) {
			for i := range int64(50) {
				r.take(said(fmt.Sprint("g", revision, i, time.Now()), kindDelta, revision+i, ""))
			}
		}
		for i, step := range []func(){
			func() { r.take(said("a", kindSnapshot, 1, "")); flood(3) },
			func() { r.take(said("b", kindSnapshot, 2, "")); flood(4) },
			func() { r.wait(askEvery); flood(5) },
		} {
			step()
			if n := asked(); n != i+1 {
				t.Errorf("step %d: a snapshot was asked for %d times, want %d", i, n, i+1)
			}
		}
	})
}

// told is how the cloud is answered in tests.
type told struct {
	*rig
	id     string
	answer string          // "done", or what it was refused for
	stage  *eventlog.Stage // instead of the answer; nil: the answer
}

func (a *told) Allowed() *problem.Error { return nil }
func (a *told) Wrote(int)               {}

func (a *told) Done(spaceID string) eventlog.Stage {
	if a.stage != nil {
		return *a.stage
	}
	return a.rig.answer(a.id, spaceID, func() { a.answer = "done" })
}

func (a *told) Again(ctx context.Context, spaceID string) error {
	return a.events.Commit(ctx, a.Done(spaceID))
}

func (a *told) Refuse(ctx context.Context, why *problem.Error, also ...func(*store.Tx) error) error {
	a.answer = strings.TrimSpace(a.answer + " rejected " + why.Error())
	return a.events.Update(ctx, func(tx *store.Tx) error {
		for _, write := range also {
			if err := write(tx); err != nil {
				return err
			}
		}
		return nil
	})
}
