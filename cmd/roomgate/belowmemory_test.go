//go:build integration && faults

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// looksOften are the sources of a gateway that reads its whole file every two seconds.
func looksOften(t *testing.T) map[string]string {
	t.Helper()
	own, err := filepath.Abs(filepath.Join(root, "store", "suspect.go"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	const every = "scrubEvery = 10 * time.Minute\n"
	if strings.Count(string(text), every) != 1 {
		t.Fatal("the file is read at other times: see scrubEvery")
	}
	changed := filepath.Join(t.TempDir(), "suspect.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), every, "scrubEvery = 2 * time.Second\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{own: changed}
}

// whileStopped does something to the page with the most bookings, while the gateway stands still.
func (d *badDisk) whileStopped(do func(page int64)) {
	d.t.Helper()
	d.signal(syscall.SIGSTOP)
	defer d.signal(syscall.SIGCONT)
	awaitThat(d.t, "the gateway stands still", d.halted)
	page, _ := d.pageInUse()
	do(page)
}

// put writes a page into a file, and waits for the disk.
func (d *badDisk) put(path string, page int64, raw []byte) {
	d.t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = file.WriteAt(raw, page*pageSize)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		d.t.Fatal(err)
	}
}

// ends wants the process to end by itself soon.
func (d *badDisk) ends(within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if !d.alive() {
			return true
		}
	}
	return false
}

// TestPageLostBelowMemory: the card loses a page of the bookings. The gateway has it in memory, so that nobody meets the damage; it
// reads the card, and what memory still has is kept: nothing is lost.
func TestPageLostBelowMemory(t *testing.T) {
	image, dir := loopImage(t, 64)
	d := openBadDisk(t, dir, special{changed: looksOften(t), arguments: []string{"--cloud", "mqtt://" + freeAddress(t)}})
	d.book(60)
	began := time.Now()
	for try := 0; ; try++ {
		if try == 3 {
			t.Fatal("the gateway does not see what the card has lost")
		}
		d.whileStopped(func(page int64) { d.put(image, blockOf(t, d.database(), page), make([]byte, pageSize)) })
		if d.ends(10 * time.Second) { // else a commit has moved the page meanwhile
			break
		}
	}
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
	d.door("after the repair", true)
	d.book(1)
	d.intact(1)
}

// TestPageReadWrongly: memory has another page than the card, as after a read that went wrong. The next process reads the card
// again: nothing is set aside, and nothing is lost.
func TestPageReadWrongly(t *testing.T) {
	image, dir := loopImage(t, 64)
	d := openBadDisk(t, dir, special{arguments: []string{"--cloud", "mqtt://" + freeAddress(t)}})
	d.book(60)
	began := time.Now()
	for try := 0; d.alive(); try++ {
		if try == 5 {
			t.Fatal("the gateway does not meet what memory has")
		}
		d.whileStopped(func(page int64) {
			block := blockOf(t, d.database(), page)
			data, err := os.ReadFile(d.database())
			if err != nil {
				t.Fatal(err)
			}
			d.put(d.database(), page, make([]byte, pageSize))
			d.put(image, block, data[page*pageSize:][:pageSize])
		})
		for id := range d.acked { // by then the last commit may have moved the page
			_, _ = d.call("PATCH", "/bookings/"+id, map[string]any{"title": fmt.Sprint("asked ", try)}, nil)
		}
		d.ends(3 * time.Second)
	}
	d.kill()
	d.start()
	d.longest = time.Since(began)
	d.nothingAside()
	kept := d.plan(demoRoom)
	for id := range d.acked {
		if b, ok := kept[id]; ok && strings.HasPrefix(b.Title, "asked") {
			d.acked[id] = b // it was changed before the gateway ended
		}
	}
	d.door("afterwards", true)
	d.book(1)
	d.intact(1)
}
