//go:build integration && faults

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// offsetFile names the environment variable with the file whose number, in seconds, the clock of a shifted gateway is ahead by.
const offsetFile = "ROOMGATE_TEST_OFFSET"

// The sources of a shifted gateway: the time of day that any of its code reads is ahead. Its monotonic clock is the kernel's,
// as with settimeofday(2).
const (
	offsetOfTime = `package time

import "sync/atomic"

var Offset atomic.Int64
`
	offsetReader = `package main

import (
	"os"
	"strconv"
	"time"
)

func readOffset() {
	text, _ := os.ReadFile(os.Getenv("` + offsetFile + `"))
	if seconds, err := strconv.ParseInt(string(text), 10, 64); err == nil { // it is empty while it is written
		time.Offset.Store(seconds)
	}
}

func init() {
	readOffset()
	go func() {
		for {
			time.Sleep(20 * time.Millisecond)
			readOffset()
		}
	}()
}
`
)

// shifted are the sources by which a gateway reads an offset.
func shifted(t *testing.T) map[string]string {
	t.Helper()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir, source := t.TempDir(), filepath.Join(strings.TrimSpace(string(goroot)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	const read = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), read) != 1 {
		t.Fatal("package time reads the clock in another way: see func Now")
	}
	own, err := filepath.Abs("offset.go")
	if err != nil {
		t.Fatal(err)
	}
	changed := map[string]string{}
	for at, is := range map[string]string{filepath.Join(source, "time.go"): strings.Replace(string(text), read, read+"\tsec += Offset.Load()\n", 1),
		filepath.Join(source, "offset.go"): offsetOfTime, own: offsetReader} {
		changed[at] = filepath.Join(dir, strconv.Itoa(len(changed))+".go")
		if err := os.WriteFile(changed[at], []byte(is), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}

// TestClockOfAGatewayJumps: the time of day is ten years ahead for a while. No booking goes, the clock is not trusted, and is
// again once it is back.
func TestClockOfAGatewayJumps(t *testing.T) {
	offset := filepath.Join(t.TempDir(), "offset")
	shift := func(years int) {
		t.Helper()
		if err := os.WriteFile(offset, []byte(strconv.Itoa(years*365*24*3600)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shift(0)
	// No stand-in cloud: it would have the same clock, and be its witness.
	d := openBadDisk(t, t.TempDir(), special{changed: shifted(t), env: []string{offsetFile + "=" + offset}, arguments: []string{"--cloud", "mqtt://" + freeAddress(t)}})
	d.book(20)
	trusted := func() bool {
		var gateway struct {
			Clock struct{ Trusted bool } `json:"clock"`
		}
		status, err := d.call(http.MethodGet, "/v2.0/gateway", nil, &gateway)
		return err == nil && status == http.StatusOK && gateway.Clock.Trusted
	}
	awaitThat(t, "the clock is trusted", trusted)
	shift(10)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Second) { // once it took 25 s until they were gone
		if lost, _ := d.lost(); lost > 0 {
			t.Fatalf("ten years ahead %d of %d bookings are gone", lost, len(d.acked))
		}
	}
	if trusted() {
		t.Error("ten years ahead the clock is trusted")
	}
	d.door("with a clock that is ahead", true)
	d.kill() // also over a restart
	d.start()
	if lost, _ := d.lost(); lost > 0 || trusted() {
		t.Errorf("after a start ten years ahead %d of %d bookings are gone, or the clock is trusted: %v", lost, len(d.acked), trusted())
	}
	began := time.Now()
	shift(0)
	awaitThat(t, "the clock is trusted again", trusted)
	d.longest = max(d.longest, time.Since(began))
	d.book(1)
	d.intact(2)
}
