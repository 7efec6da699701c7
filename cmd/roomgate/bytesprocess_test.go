//go:build integration && faults

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What each kind of change may write to the database, in bytes (section 10 of the design). The file system writes its own journal
// beside it, which is less than that.
const (
	mostPerChange = 16_400
	mostPerOrder  = 34_600
	mostPerMany   = 1000 // about 50 of them in a flush
)

// counted is what the gateway itself says that it has written to its database.
func (d *badDisk) counted() (bytes int64) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.base+"/metrics", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("X-API-Key", crashKey)
	for line := range strings.Lines(bodyOf(d.t, r)) {
		if _, err := fmt.Sscanf(line, "roomgate_store_written_bytes_total %d", &bytes); err == nil {
			return bytes
		}
	}
	d.t.Fatal("the metrics do not say what was written")
	return 0
}

// quiet waits until nothing is written for longer than a flush.
func (d *badDisk) quiet() {
	d.t.Helper()
	last, since := d.counted(), time.Now()
	awaitThat(d.t, "nothing is written", func() bool {
		time.Sleep(50 * time.Millisecond)
		if now := d.counted(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 1200*time.Millisecond
	})
}

// onDisk is what the kernel has given to the disk of the gateway, for whatever (Documentation/block/stat.rst).
func (d *badDisk) onDisk() int64 {
	d.t.Helper()
	var at unix.Stat_t
	dir, err := os.Open(filepath.Dir(d.database()))
	if err != nil {
		d.t.Fatal(err)
	}
	defer dir.Close()
	err = errors.Join(unix.Syncfs(int(dir.Fd())), unix.Fstat(int(dir.Fd()), &at))
	text, bad := os.ReadFile(fmt.Sprintf("/sys/dev/block/%d:%d/stat", unix.Major(at.Dev), unix.Minor(at.Dev)))
	if err = errors.Join(err, bad); err != nil {
		d.t.Fatal(err)
	}
	sectors, err := strconv.ParseInt(strings.Fields(string(text))[6], 10, 64)
	if err != nil {
		d.t.Fatal(err)
	}
	return sectors * 512
}

// TestBytesOfAGateway: what a gateway writes for nothing, a change, an order and many changes at once, as it says itself and as the
// kernel has counted it.
func TestBytesOfAGateway(t *testing.T) {
	d := openBadDisk(t, loopDisk(t, 64), special{arguments: []string{"--cloud", "mqtt://" + freeAddress(t)}})
	c := overSocket(filepath.Join(d.data, socketName), answerTime)
	say := func(subject, value string) {
		t.Helper()
		var answer simAnswer
		if err := c.call(t.Context(), http.MethodPost, "/sim", simCommand{"aurora", subject, []string{value}}, &answer); err != nil {
			t.Fatal(err)
		}
	}
	injected := 0
	cost := func(what string, times int, most int64, do func(n int)) {
		t.Helper()
		d.quiet()
		own, kernel := d.counted(), d.onDisk()
		for n := range times {
			do(n)
			injected++
		}
		d.quiet()
		own, kernel = (d.counted()-own)/int64(times), (d.onDisk()-kernel)/int64(times)
		t.Logf("%s: %d bytes, %d by the kernel", what, own, kernel)
		if own > most || kernel > 2*own || kernel < own {
			t.Errorf("%s writes %d bytes, by the kernel %d, want at most %d, and twice as much by the kernel", what, own, kernel, most)
		}
	}
	cost("nothing new", 50, 0, func(int) { d.value("light", ""); d.value("o3-sensor", "temperature") })
	cost("a change", 4, mostPerChange, func(n int) {
		before := d.counted()
		say("temperature", fmt.Sprint(20+2*(n%2)))
		awaitThat(t, "it is stored", func() bool { return d.counted() > before })
	})
	cost("an order", 4, mostPerOrder, func(n int) {
		action := []string{"on", "off"}[n%2]
		if status, err := d.call(http.MethodPost, "/devices/"+demoRoom+"/action", map[string]any{"device_type": "light", "action": action, "wait": "5s"}, nil); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d, %v", action, status, err)
		}
	})
	tick := time.Tick(8 * time.Millisecond)
	cost("one change of many", 110, mostPerMany, func(n int) {
		<-tick
		say("occupancy", []string{"occupied", "vacant"}[n%2])
	})
	survived(t, injected)
}
