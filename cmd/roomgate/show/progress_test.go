package show

import (
	"testing"
	"testing/synctest"
	"time"
)

// saidLines passes on each line that progress says.
type saidLines chan string

func (l saidLines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// Where nobody watches there is a plain line now and then, and none about what
// ends soon.
func TestProgressInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(saidLines, 9)
		p := NewProgress(ProgressOptions{Out: said})
		told, stop := p.Wait("copying")
		time.Sleep(ProgressEveryLog - time.Nanosecond)
		synctest.Wait()
		if len(said) > 0 {
			t.Errorf("said too soon: %q", <-said)
		}
		time.Sleep(ProgressEveryLog)
		synctest.Wait()
		told(1<<20, 4<<20)
		time.Sleep(ProgressEveryLog)
		stop()
		p.End()
		for _, want := range []string{"copying: 10s\n", "copying: 25 % of 4.0 MB\n"} {
			if got := <-said; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
}
