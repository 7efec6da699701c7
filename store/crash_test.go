package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/store/pages"
)

// writeUntilKilled is the child: 8 goroutines store a row, a number and a counter together, and print the number
// once the store has acknowledged it.
func writeUntilKilled(path string) int {
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				var seq uint64
				err := db.Update(context.Background(), func(tx *Tx) (err error) {
					seq, err = acked.Push(tx, record{strings.Repeat("x", 100), 1})
					return errors.Join(err, records.Put(tx, strconv.FormatUint(seq, 10), record{"at", int(seq)}))
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				fmt.Println(seq)
			}
		})
	}
	wg.Wait()
	return 1
}

var acked = NewQueue[record]("acked", 1_000_000, Refuse).Tailed()

func TestKilledWriterLosesNoAcknowledgedRow(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	promised := map[uint64]bool{}
	began := time.Now()
	rounds := 0
	for ; rounds < 25 && time.Since(began) < 4*time.Second; rounds++ {
		for _, seq := range killOnce(t, path) {
			if promised[seq] {
				t.Fatalf("number %d was given twice", seq)
			}
			promised[seq] = true
		}
		wantPromised(t, path, promised)
	}
	if len(promised) < rounds {
		t.Errorf("only %d rows in %d rounds, the test proves little", len(promised), rounds)
	}
	t.Logf("%d kills, %d rows acknowledged, all there", rounds, len(promised))
	survivedAll(t, rounds)
}

// killOnce lets a child write for some random milliseconds and returns what it had acknowledged.
func killOnce(t *testing.T, path string) (seqs []uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), childMode+"=write")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var timer *time.Timer
	for lines.Scan() {
		seq, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			break // the kill cut the line
		}
		seqs = append(seqs, seq)
		if timer == nil {
			timer = time.AfterFunc(time.Duration(rand.IntN(30_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || timer == nil {
		t.Fatalf("the child ended by itself: %v, %s", err, said.String())
	}
	return seqs
}

func wantPromised(t *testing.T, path string, promised map[uint64]bool) {
	t.Helper()
	db, report, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, db)
	if report != (Report{}) {
		t.Fatalf("the kill needed a repair: %+v", report)
	}
	view(t, db, func(tx *Tx) error {
		for seq := range promised {
			if _, err := acked.Get(tx, seq); err != nil {
				return err
			}
			if _, err := records.Get(tx, strconv.FormatUint(seq, 10)); err != nil {
				return err
			}
		}
		if acked.Len(tx) != records.Len(tx) {
			t.Errorf("%d numbers and %d rows, a transaction was cut in half", acked.Len(tx), records.Len(tx))
		}
		return nil
	})
}

// TestPowerCutAtEveryCommit builds the states a disk can be in when the power fails during a commit. bbolt writes
// the pages, syncs, writes one header, syncs; so until the first sync any part of the new sectors may be there, and
// until the second any part of the header. The sectors come from comparing the file before and after a commit.
func TestPowerCutAtEveryCommit(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	db := start(t, path, Options{})
	ring := NewQueue[record]("ring", 20, DropOldest).Tailed()
	rng := rand.New(rand.NewPCG(1, 2))
	cut := filepath.Join(t.TempDir(), "cut.db")
	for n := range 50 {
		last := push(t, db, ring, 1+rng.IntN(3))
		update(t, db, func(tx *Tx) error {
			return records.Put(tx, fmt.Sprint(rng.IntN(40)), record{strings.Repeat("y", rng.IntN(3000)), n})
		})
		mid := readFile(t, path)
		update(t, db, func(tx *Tx) error { return records.Put(tx, "last", record{"n", n}) })
		after := readFile(t, path)
		for range 5 {
			image := tear(rng, mid, after)
			wantSoundAfterCut(t, cut, image, n, last)
		}
	}
	survivedAll(t, 50*5)
}

const sector = 512

// tear returns old with a random part of the change to new, headers only once all pages are there.
func tear(rng *rand.Rand, old, new []byte) []byte {
	_, count := soundHeader(new)
	new = new[:count*pages.PageSize] // the rest of the file is unused
	image := make([]byte, len(new))
	copy(image, old)
	pagesDone := rng.IntN(3) == 0
	for at := 0; at < len(new); at += sector {
		header := at < 2*pages.PageSize
		if header && pagesDone && rng.IntN(2) == 0 || !header && (pagesDone || rng.IntN(2) == 0) {
			copy(image[at:at+sector], new[at:at+sector])
		}
	}
	return image
}

func wantSoundAfterCut(t *testing.T, path string, image []byte, n int, last uint64) {
	t.Helper()
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	db, report, err := Open(context.Background(), path, Options{})
	if err != nil || report != (Report{}) {
		t.Fatalf("after the cut: %+v, %v", report, err)
	}
	defer stop(t, db)
	view(t, db, func(tx *Tx) error {
		ring := NewQueue[record]("ring", 20, DropOldest).Tailed()
		r, err := records.Get(tx, "last")
		if ring.Last(tx) != last || (n > 0 && (err != nil || r.N < n-1 || r.N > n)) {
			t.Errorf("last number %d, want %d; row %v, %v", ring.Last(tx), last, r, err)
		}
		return nil
	})
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// survivedAll says for the table of make faults what was injected, and that a test which fails for anything lost or
// doubled has found none.
func survivedAll(t *testing.T, injected int) {
	if !t.Failed() {
		t.Attr("injected", strconv.Itoa(injected))
		t.Attr("survived", strconv.Itoa(injected))
		t.Attr("lost", "0")
		t.Attr("doubled", "0")
	}
}

// TestPowerCutInATail cuts the power in each commit while rows go from the page of all buckets to a page of their own, and
// from there to the queue: each row is there once, and the last one wholly or not at all.
func TestPowerCutInATail(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	db := start(t, path, Options{})
	rng := rand.New(rand.NewPCG(3, 4))
	cut := filepath.Join(t.TempDir(), "cut.db")
	q := NewQueue[string]("tailed", 1000, DropOldest).Tailed()
	const rows = 120
	before := readFile(t, path)
	for n := range uint64(rows) {
		push1(t, db, q, strings.Repeat("r", 100+rng.IntN(600)))
		after := readFile(t, path)
		for range 3 {
			if err := os.WriteFile(cut, tear(rng, before, after), 0o600); err != nil {
				t.Fatal(err)
			}
			again, report, err := Open(context.Background(), cut, Options{})
			if err != nil || n > 0 && report != (Report{}) {
				t.Fatalf("after the cut: %+v, %v", report, err)
			}
			view(t, again, func(tx *Tx) error {
				items, err := q.After(tx, 0, 2*rows)
				if last := q.Last(tx); last != n && last != n+1 || uint64(len(items)) != last || q.Len(tx) != len(items) {
					t.Errorf("after row %d the last is %d, with %d rows, counted as %d", n+1, last, len(items), q.Len(tx))
				}
				for i, item := range items {
					if item.Seq != uint64(i+1) {
						t.Errorf("row %d has number %d", i+1, item.Seq)
					}
				}
				return err
			})
			stop(t, again)
		}
		before = after
	}
	survivedAll(t, 3*rows)
}
