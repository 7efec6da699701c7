//go:build integration

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/store"
)

// nothingAside wants no file to be set aside as damaged.
func (d *badDisk) nothingAside() {
	d.t.Helper()
	if found, err := filepath.Glob(d.database() + ".damaged*"); err != nil || len(found) > 0 {
		d.t.Errorf("set aside: %q, %v", found, err)
	}
}

// TestDiskThatFailsAndHeals: each write to the disk fails with EIO below a running gateway and below the next one; the third one
// finds the disk well.
func TestDiskThatFailsAndHeals(t *testing.T) {
	disk := newEmulatedDisk(t, 64)
	d := openBadDisk(t, disk.dir, special{})
	d.door("with a good disk", true)
	d.book(20)
	disk.become(deafDisk)
	for _, what := range []string{"on a failing disk", "after a start on it"} {
		if code := d.refused(); code != "storage_failed" {
			t.Errorf("%s bookings are refused with %s", what, code)
		}
		d.door(what, false)
		d.says(d.degraded(), "the disk ")
		d.staysUp(5 * time.Second)
		d.kill()
		if what == "on a failing disk" {
			d.start()
		}
	}
	disk.become(wellDisk)
	disk.unplug()
	disk.mount()
	d.start()
	d.nothingAside()
	if got := d.degraded(); got != "" {
		t.Errorf("on the disk that is well readyz says %q", got)
	}
	d.door("on the disk that is well", true)
	d.book(1)
	d.intact(2)
}

// TestSectorThatCannotBeRead: the disk answers EIO where bookings are. What can be read is read, and once it delivers again, all is there.
func TestSectorThatCannotBeRead(t *testing.T) {
	disk := newEmulatedDisk(t, 64)
	d := openBadDisk(t, disk.dir, special{})
	d.book(60)
	d.kill()
	page, on := d.pageInUse()
	disk.lose(d.database(), page)
	disk.unplug()
	disk.become(holeDisk)
	disk.mount()
	d.start()
	d.nothingAside()
	d.door("beside a bad sector", false)
	d.says(d.degraded(), "the disk ")
	if lost, doubled := d.lost(); lost > len(on) || doubled > 0 {
		t.Errorf("of %d bookings, %d of them on the bad sector, %d are not shown, and %d are doubled", len(d.acked), len(on), lost, doubled)
	}
	d.kill()
	disk.become(wellDisk)
	disk.unplug()
	disk.mount()
	d.start()
	d.nothingAside()
	d.door("once the disk delivers", true)
	d.book(1)
	d.intact(1)
}

// TestPageDamagedBelowAGateway: a page of the bookings becomes zeros. The gateway ends, and the next one has repaired all but that page.
func TestPageDamagedBelowAGateway(t *testing.T) {
	d := openBadDisk(t, t.TempDir(), special{})
	d.book(60)
	began, injected, titles := time.Now(), 0, 0
	var on []string
	awaitThat(t, "the gateway has met the damage, and ends", func() bool {
		if found := d.damage(); len(found) > 0 {
			on, injected = append(on, found...), injected+1
		}
		for _, id := range on { // the disk is asked for a row when that is to change
			titles++
			var b bookingAnswer
			if status, err := d.call(http.MethodPatch, "/bookings/"+id, map[string]any{"title": fmt.Sprint("title ", titles)}, &b); err == nil && status == http.StatusOK {
				d.acked[id] = b
			}
		}
		return !d.alive()
	})
	d.kill()
	d.start()
	d.longest = time.Since(began)
	if aside, err := filepath.Glob(d.database() + ".damaged*"); err != nil || len(aside) != 1 {
		t.Errorf("set aside: %q, %v", aside, err)
	}
	d.diagnosed("it was damaged and repaired")
	if told := d.events("storeRepaired"); len(told) != 1 {
		t.Errorf("the repair was told of %d times", len(told))
	}
	d.staysUp(3 * time.Second) // the cloud of the demo, which has forgotten all, was asked for the bookings
	lost, doubled := d.lost()
	if lost > len(on) {
		t.Errorf("%d of %d bookings are lost, and %d were on the page", lost, len(d.acked), len(on))
	}
	d.door("after the repair", true)
	d.book(1)
	for key, n := range map[string]int{"injected": injected, "survived": injected, "lost": lost, "doubled": doubled} {
		t.Attr(key, fmt.Sprint(n))
	}
	t.Attr("recovery", d.longest.String())
	t.Logf("%d of %d bookings were on the page, %d are lost", len(on), len(d.acked), lost)
}

// damage makes a page with bookings zeros, unless the gateway's newest state has such a one: a commit may have just moved the last
// one. It returns the bookings that were on it.
func (d *badDisk) damage() (bookings []string) {
	d.t.Helper()
	d.signal(syscall.SIGSTOP)
	defer d.signal(syscall.SIGCONT)
	awaitThat(d.t, "the gateway stands still", d.halted)
	whole := d.binary + ".database" // the gateway has the file itself locked
	data, err := os.ReadFile(d.database())
	if err = errors.Join(err, os.WriteFile(whole, data, 0o600)); err != nil {
		d.t.Fatal(err)
	}
	if err := store.Verify(whole); err != nil {
		if !errors.Is(err, store.ErrDamaged) {
			d.t.Fatal(err)
		}
		return nil
	}
	page, bookings := d.pageInUse()
	file, err := os.OpenFile(d.database(), os.O_WRONLY, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = file.WriteAt(make([]byte, pageSize), page*pageSize)
	if err = errors.Join(err, file.Close()); err != nil {
		d.t.Fatal(err)
	}
	return bookings
}

func (d *badDisk) signal(s os.Signal) {
	d.t.Helper()
	if err := d.process.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// halted says that no thread of the process runs: each stops when the kernel comes to it, maybe after what it writes.
func (d *badDisk) halted() bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", d.process.Process.Pid))
	return err == nil && !slices.ContainsFunc(threads, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && !strings.Contains(string(text), ") T ") && !strings.Contains(string(text), ") Z ")
	})
}

const pageSize = 4096

// pageInUse finds the page of the table of bookings with the most of them, and says which are on it.
func (d *badDisk) pageInUse() (page int64, bookings []string) {
	d.t.Helper()
	data, err := os.ReadFile(d.database())
	if err != nil {
		d.t.Fatal(err)
	}
	on := map[int64][]string{}
	for at := int64(0); (at+1)*pageSize <= int64(len(data)); at++ {
		for id := range d.acked {
			if bytes.Contains(data[at*pageSize:][:pageSize], []byte(id)) {
				on[at] = append(on[at], id)
			}
		}
	}
	without := filepath.Join(d.t.TempDir(), "without")
	for _, page := range slices.SortedFunc(maps.Keys(on), func(a, b int64) int { return len(on[b]) - len(on[a]) }) {
		harmed := bytes.Clone(data)
		clear(harmed[page*pageSize:][:pageSize])
		if err := os.WriteFile(without, harmed, 0o600); err != nil {
			d.t.Fatal(err)
		}
		db, report, err := store.Open(d.t.Context(), without, store.Options{Schema: agent.Schema})
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			d.t.Fatal(err)
		}
		if r := report.Repair; r != nil && !r.Headless && !r.Unlisted && r.Doubtful("table:bookings") {
			return page, on[page]
		}
	}
	d.t.Fatal("no page of the table has a booking")
	return 0, nil
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
