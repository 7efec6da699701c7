package errand

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/atomicfile"
	"roomgate/agent/backup"
	"roomgate/agent/problem"
)

// TestRoomForABackup: a disk that has no room for a backup is left as it is.
func TestRoomForABackup(t *testing.T) {
	for free, want := range map[uint64]problem.Code{1 << 30: "", 66 << 20: "", 65<<20 - 1: problem.Full, 0: problem.Full} {
		err := checkFree(free, 512<<10)
		if e := problem.As(err); (e == nil) != (want == "") || e != nil && e.Code != want {
			t.Errorf("%d bytes free: %v", free, err)
		}
	}
}

// TestMakerKeepsForAWhile: what was made waits for half an hour, is one at a time, and lies
// under no name.
func TestMakerKeepsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		e := New(Options{Means: Means{Folder: folder}})
		m := e.makers[FileSupport]
		write := func(text string, err error) order {
			return order{do: func(_ context.Context, f *os.File, progress func(string) backup.Progress) error {
				progress("half")(1, 2)
				time.Sleep(time.Minute)
				_, _ = f.WriteString(text)
				return err
			}}
		}
		made := func(o order) {
			t.Helper()
			f, err := atomicfile.Unnamed(folder)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.start(order{who: access.Principal{Name: "Ada"}}); err != nil { // which nobody does here
				t.Fatal(err)
			}
			if v := m.look(); v.Part != "Starting" {
				t.Errorf("it starts with %q", v.Part)
			}
			<-m.wanted
			if err := m.start(o); problem.As(err) == nil || problem.As(err).Code != problem.NotNow || !strings.Contains(err.Error(), "Ada is making one") {
				t.Errorf("two at a time: %v", err)
			}
			m.done(f, o.do(t.Context(), f, m.progress))
		}
		made(write("one", nil))
		if v := m.look(); !v.Ready || v.Size != 3 {
			t.Errorf("it is %+v", v)
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("in the folder is %v", left)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { m.run(ctx, e); close(ended) }()
		time.Sleep(keepFor - time.Second)
		if v := m.look(); !v.Ready {
			t.Error("it waits no half an hour")
		}
		time.Sleep(2 * time.Second)
		if v := m.look(); v.Ready || m.made != nil {
			t.Errorf("after its time it is %+v", v)
		}
		cancel()
		<-ended
		made(write("two", errors.New("the disk fell out")))
		if v := m.look(); v.Ready || v.Running || v.Wrong != "the disk fell out" {
			t.Errorf("it is %+v", v)
		}
	})
}
