//go:build integration

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/booking"
)

// demoRoom has a lock.
const demoRoom = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"

// badDisk is a demo, as it has a lock, on a disk of its own. People book on it, and what was acknowledged is kept in mind.
type badDisk struct {
	*desk
	t            *testing.T
	binary, data string
	process      *exec.Cmd
	listen       string
	arguments    []string // more of them
	config       string   // empty: a demo
	env          []string
	longest      time.Duration // from a start to the first answer
}

// loopDisk mounts an ext4 file system in a file.
func loopDisk(t *testing.T, megabytes int64) string {
	t.Helper()
	_, dir := loopImage(t, megabytes)
	return dir
}

// loopImage is loopDisk that also says which file the disk is.
func loopImage(t *testing.T, megabytes int64) (image, dir string) {
	t.Helper()
	image, dir = filepath.Join(t.TempDir(), "disk"), t.TempDir()
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, megabytes<<20)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{"mkfs.ext4", "-q", "-b", "4096", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Skipf("a disk cannot be mounted here: %v %s", err, out)
		}
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return image, dir
}

// special says how a gateway differs from the usual one.
type special struct {
	changed        map[string]string // other sources for some of its files
	env, arguments []string          // more for the demo
	config         string            // of a gateway in place of the demo; empty: the demo
}

// openBadDisk builds a gateway and starts it in dir, beside other tests.
func openBadDisk(t *testing.T, dir string, s special) *badDisk {
	t.Helper()
	t.Parallel()
	d := &badDisk{t: t, binary: filepath.Join(t.TempDir(), "roomgate"), data: filepath.Join(dir, "data"), listen: freeAddress(t), arguments: s.arguments, config: s.config}
	d.env = slices.Concat(os.Environ(), []string{"ROOMGATE_SYSTEM_KEY=" + crashKey, "TMPDIR=" + t.TempDir()}, s.env) // the control socket goes into TMPDIR
	buildRoomgate(t, d.binary, s.changed)
	d.desk = &desk{t: t, base: "http://" + d.listen, acked: map[string]bookingAnswer{}}
	d.start()
	d.longest = 0
	return d
}

func (d *badDisk) database() string { return filepath.Join(d.data, agent.Database) }

func (d *badDisk) command() *exec.Cmd {
	if d.config != "" {
		c := exec.Command(d.binary, append([]string{"run", "--config", d.config, "--data", d.data, "--listen", d.listen, "--broker", freeAddress(d.t)}, d.arguments...)...)
		c.Env = d.env
		return c
	}
	c := exec.Command(d.binary, append([]string{"demo", "--data", d.data, "--listen", d.listen, "--broker", freeAddress(d.t), "--cloud-listen", freeAddress(d.t)}, d.arguments...)...)
	c.Env = d.env
	return c
}

func (d *badDisk) start() { d.run(d.command()) }

func (d *badDisk) run(c *exec.Cmd) {
	d.t.Helper()
	began := time.Now()
	d.process = startProcess(d.t, c)
	for deadline := began.Add(4 * time.Minute); ; time.Sleep(2 * time.Millisecond) { // a slow disk takes as long as it takes
		if status, err := d.call(http.MethodGet, "/readyz", nil, nil); err == nil && status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) || !d.alive() {
			d.t.Fatal("the gateway does not become ready")
		}
	}
	d.longest = max(d.longest, time.Since(began))
}

// alive says whether the process runs. One that has ended is a zombie until somebody waits for it: proc(5).
func (d *badDisk) alive() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.process.Process.Pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// staysUp wants the process that runs to be there after a while.
func (d *badDisk) staysUp(while time.Duration) {
	d.t.Helper()
	for end := time.Now().Add(while); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if !d.alive() {
			d.t.Error("the gateway ended")
			return
		}
	}
}

func (d *badDisk) kill() {
	d.t.Helper()
	if err := d.process.Process.Kill(); err != nil {
		d.t.Fatal(err)
	}
	_ = d.process.Wait()
}

// door opens and closes the door, each within what a person waits.
func (d *badDisk) door(what string, durable bool) {
	d.t.Helper()
	for _, action := range []string{"open", "close"} {
		var receipt struct {
			State   string `json:"state"`
			Durable *bool  `json:"durable"`
			Detail  string `json:"detail"`
		}
		began := time.Now()
		status, err := d.call(http.MethodPost, "/devices/"+demoRoom+"/action", map[string]any{"device_type": "lock", "action": action, "wait": "8s"}, &receipt)
		if err != nil || status != http.StatusOK || receipt.State != "done" || (receipt.Durable == nil) != durable {
			d.t.Errorf("%s: %s gives %d %+v, %v", what, action, status, receipt, err)
		}
		d.t.Logf("%s: %s in %v", what, action, time.Since(began).Round(time.Millisecond))
	}
}

// degraded is what readyz says of the disk.
func (d *badDisk) degraded() string {
	d.t.Helper()
	var ready struct {
		Status   string `json:"status"`
		Degraded struct {
			Storage string `json:"storage"`
		} `json:"degraded"`
	}
	if status, err := d.call(http.MethodGet, "/readyz", nil, &ready); err != nil || status != http.StatusOK || ready.Status != "ready" {
		d.t.Errorf("readyz gives %d %+v, %v", status, ready, err)
	}
	return ready.Degraded.Storage
}

// ask asks for the next quarter of an hour. code says why it is refused.
func (d *badDisk) ask() (status int, code string, err error) {
	var got struct {
		bookingAnswer
		Code string `json:"code"`
	}
	at := time.Now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour + time.Duration(d.next.Add(1))*15*time.Minute)
	status, err = d.call(http.MethodPost, "/bookings", map[string]any{"meeting_space_id": demoRoom, "title": strings.Repeat("t", 100),
		"start_time": at, "end_time": at.Add(15 * time.Minute)}, &got)
	if err == nil && status == http.StatusCreated {
		d.acked[got.ID] = got.bookingAnswer
	}
	return status, got.Code, err
}

// slot is ask of a gateway that books or says why it does not.
func (d *badDisk) slot() (refused string) {
	d.t.Helper()
	status, code, err := d.ask()
	if err != nil || status != http.StatusCreated && status != http.StatusConflict && status != http.StatusInsufficientStorage {
		d.t.Fatalf("a booking gives %d %s, %v", status, code, err)
	}
	return code
}

// book books so many times.
func (d *badDisk) book(times int) {
	d.t.Helper()
	for want := len(d.acked) + times; len(d.acked) < want; {
		if why := d.slot(); strings.HasPrefix(why, "storage") {
			d.t.Fatalf("a booking is refused: %s", why)
		}
	}
}

// refused books until the disk refuses, and returns the code.
func (d *badDisk) refused() string {
	d.t.Helper()
	for range 3000 {
		if why := d.slot(); strings.HasPrefix(why, "storage") {
			return why
		}
	}
	d.t.Fatal("no booking was refused")
	return ""
}

// lost is how many bookings that were acknowledged are not there, or are other ones; doubled how many have the time of another.
func (d *badDisk) lost() (lost, doubled int) {
	d.t.Helper()
	kept, taken := d.plan(demoRoom), map[time.Time]bool{}
	for id, b := range d.acked {
		if kept[id] != b {
			lost++
		}
	}
	for _, b := range kept {
		if b.State == booking.Booked && taken[b.Start] {
			doubled++
		}
		taken[b.Start] = taken[b.Start] || b.State == booking.Booked
	}
	return lost, doubled
}

// intact wants all bookings as they were acknowledged, and tells make faults so.
func (d *badDisk) intact(injected int) {
	d.t.Helper()
	lost, doubled := d.lost()
	if lost > 0 || doubled > 0 || len(d.acked) == 0 {
		d.t.Errorf("of %d bookings %d are lost, and %d have the time of another", len(d.acked), lost, doubled)
	}
	survived := injected
	if d.t.Failed() {
		survived = 0
	}
	for key, n := range map[string]int{"injected": injected, "survived": survived, "lost": lost, "doubled": doubled} {
		d.t.Attr(key, strconv.Itoa(n))
	}
	d.t.Attr("recovery", d.longest.String())
}

// says wants the doctor and the metrics to say how the disk is.
func (d *badDisk) says(state, finding string) {
	d.t.Helper()
	d.diagnosed(finding)
	// A change that needs no new page fits on a full disk, and takes that away until the next one.
	awaitThat(d.t, "the metrics say "+state, func() bool {
		r, err := http.NewRequest(http.MethodGet, d.base+"/metrics", nil)
		if err != nil {
			d.t.Fatal(err)
		}
		r.Header.Set("X-API-Key", crashKey)
		if strings.Contains(bodyOf(d.t, r), fmt.Sprintf("roomgate_storage_degraded{storage=%q} 1", state)) {
			return true
		}
		d.refused()
		return false
	})
}

// diagnosed wants the doctor to say something.
func (d *badDisk) diagnosed(finding string) {
	d.t.Helper()
	doctor := exec.Command(d.binary, "doctor", "--data", d.data, "--output", "json")
	doctor.Env = d.env
	out, _ := doctor.CombinedOutput()
	if !strings.Contains(string(out), finding) {
		d.t.Errorf("the doctor does not say %q:\n%s", finding, out)
	}
}

func bodyOf(t *testing.T, r *http.Request) string {
	t.Helper()
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// events are the times of all events of a kind.
func (d *badDisk) events(kind string) (times []string) {
	d.t.Helper()
	var page struct {
		Events []struct {
			At string `json:"timestamp"`
		} `json:"events"`
	}
	if status, err := d.call(http.MethodGet, "/devices/events?event_type="+kind, nil, &page); err != nil || status != http.StatusOK {
		d.t.Fatalf("the events: %d, %v", status, err)
	}
	for _, e := range page.Events {
		times = append(times, e.At)
	}
	return times
}
