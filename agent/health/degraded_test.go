package health

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	disks "roomgate/store/disk"
	"roomgate/store/storetest"
)

// What the disk does not take is told everywhere, once, and as an event when it takes something again.
func TestDegradedIsTold(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- r.Watch(ctx) }()
		go func() { ended <- r.events.Run(ctx) }()
		if r.Report().Degraded != nil {
			t.Fatal("degraded at first")
		}
		mend := storetest.Fill(t, filepath.Join(r.o.DataDir, "test.db"))
		for range 2 {
			if r.NoteGateway(t.Context(), "x", nil) == nil {
				t.Fatal("the disk is not full")
			}
			time.Sleep(time.Minute)
		}
		d := r.Report().Degraded
		if d == nil || d.Storage != disks.Full || time.Since(d.Since).Round(time.Second) != 2*time.Minute || !strings.Contains(d.Reason, "no space left") {
			t.Errorf("%+v", d)
		}
		if err := r.Ready(); err != nil {
			t.Errorf("not ready: %v", err)
		}
		var b bytes.Buffer
		r.WriteMetrics(&b)
		if !strings.Contains(b.String(), "\nroomgate_storage_degraded{storage=\"full\"} 1\nroomgate_storage_degraded{storage=\"failing\"} 0\n") {
			t.Errorf("%s", b.String())
		}
		mend()
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if d := r.Report().Degraded; d != nil {
			t.Errorf("with room %+v", d)
		}
		if n, again := len(r.find(eventDegraded)), len(r.find(eventRecovered)); n != 1 || again != 1 {
			t.Errorf("told %d times, and %d times that it is over", n, again)
		}
		stop()
		r.must(<-ended)
		r.must(<-ended)
	})
}

// A disk that fails makes nobody wait for the check of the database, which lasts as long as reading it.
func TestFailingDiskIsReadyAtOnce(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		storetest.Break(t, filepath.Join(r.o.DataDir, "test.db"))
		if r.NoteGateway(t.Context(), "x", nil) == nil {
			t.Fatal("the disk takes it")
		}
		if r.db.Suspect().Cause == nil {
			t.Error("the database is not to be checked")
		}
		if d, err := r.Report().Degraded, r.Ready(); d == nil || d.Storage != disks.Failing || err != nil {
			t.Errorf("degraded %+v, ready %v", d, err)
		}
	})
}

// A disk that takes nothing ends nothing, and ends in order.
func TestFailingDiskIsTold(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 3)
		for _, run := range []func(context.Context) error{r.Watch, r.events.Run, r.db.Run} {
			go func() { ended <- run(ctx) }()
		}
		storetest.Break(t, filepath.Join(r.o.DataDir, "test.db"))
		if r.NoteGateway(t.Context(), "x", nil) == nil {
			t.Fatal("the disk takes it")
		}
		time.Sleep(5 * time.Minute)
		if d := r.Report().Degraded; d == nil || d.Storage != disks.Failing || r.Ready() != nil || r.Progress() != nil {
			t.Errorf("%+v, %v, %v", d, r.Ready(), r.Progress())
		}
		stop()
		for range 3 {
			r.must(<-ended)
		}
		if !strings.Contains(r.said.String(), "the log of events lacks the changes") {
			t.Error("the end does not say what is lost")
		}
	})
}
