package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"roomgate/store/disk"
	"roomgate/store/layout"
	"roomgate/store/pages"
)

func place(bucket string, key []byte) string { return bucket + "\x00" + string(key) }

// lived is a database that has seen changes of all kinds, so that its file is full of older versions of pages.
type lived struct {
	path  string
	good  []byte
	rows  map[string]record // what was stored at the end, by place
	was   map[string][]record
	pages map[string][]uint64 // on which pages each row lies
	kinds map[uint64]string
	last  uint64 // the last number of the queue
}

var theNames = []string{string(records.bucket), string(few.bucket), string(log.bucket)}

// ages is what the rows of these tests say of themselves: N only rises.
func ages(_ string, row []byte) int64 {
	var r record
	if json.Unmarshal(row, &r) != nil {
		return 0
	}
	return int64(r.N)
}

var few = NewTable[record]("few") // so small that it lies within the list of buckets

// live makes such a database. snapshot says whether one is taken on the way.
func live(t *testing.T, snapshot bool) *lived {
	t.Helper()
	w := &lived{path: tempPath(t), rows: map[string]record{}, was: map[string][]record{}}
	db, _, err := Open(context.Background(), w.path, Options{Age: ages, Names: theNames})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 14))
	n := 0
	for round := range 60 {
		update(t, db, func(tx *Tx) error {
			for range 12 {
				n++
				if err := w.change(tx, rng, n); err != nil {
					return err
				}
			}
			return nil
		})
		if snapshot && round == 40 {
			if err := db.Snapshot(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop(t, db)
	w.good = readFile(t, w.path)
	w.map_(t)
	return w
}

func (w *lived) change(tx *Tx, rng *rand.Rand, n int) error {
	table, key := records, fmt.Sprintf("key %03d", rng.IntN(300))
	if n%20 == 0 {
		table, key = few, fmt.Sprint(n%3)
	}
	at := place(string(table.bucket), []byte(key))
	switch {
	case n%7 == 0:
		delete(w.rows, at)
		return table.Delete(tx, key)
	case n%5 == 0:
		seq, err := log.Push(tx, record{strings.Repeat("e", 200), n})
		at = place(string(log.bucket), layout.Key(seq))
		w.last = seq
		w.rows[at] = record{strings.Repeat("e", 200), n}
		w.was[at] = append(w.was[at], w.rows[at])
		return err
	}
	r := record{strings.Repeat("v", rng.IntN(400)), n}
	if n%97 == 0 {
		r.Name = strings.Repeat("long", 4000)
	}
	if table.name == few.name {
		r.Name = ""
	}
	w.rows[at] = r
	w.was[at] = append(w.was[at], r)
	return table.Put(tx, key, r)
}

// map_ finds out which page is what, and where each row lies.
func (w *lived) map_(t *testing.T) {
	t.Helper()
	w.pages, w.kinds = map[string][]uint64{}, map[uint64]string{0: "meta", 1: "meta"}
	var walk func(id uint64, bucket string)
	walk = func(id uint64, bucket string) {
		leaf, more, all := soundPage(w.good[id*pages.PageSize:])
		span := []uint64{id}
		for i := range more {
			span = append(span, id+1+i)
			w.kinds[id+1+i] = "overflow"
		}
		w.kinds[id] = "branch"
		if leaf {
			w.kinds[id] = "leaf"
		}
		if bucket == "" {
			w.kinds[id] = "list"
		}
		for _, e := range all {
			switch {
			case !leaf:
				walk(e.child, bucket)
			case e.bucket && little.Uint64(e.value) != 0:
				walk(little.Uint64(e.value), string(e.key))
			case e.bucket:
				_, _, rows := soundPage(e.value[headerSize:])
				for _, row := range rows {
					w.pages[place(string(e.key), row.key)] = span
				}
			default:
				w.pages[place(bucket, e.key)] = span
			}
		}
	}
	root, _ := soundHeader(w.good)
	walk(root, "")
	for at := range w.rows {
		if w.pages[at] == nil {
			t.Fatalf("row %q is nowhere", at)
		}
	}
}

// harms are what may happen to one page.
var harms = map[string]func(data []byte, page uint64, rng *rand.Rand){
	"zeroed": func(d []byte, page uint64, _ *rand.Rand) { clear(d[page*pages.PageSize:][:pages.PageSize]) },
	"flipped": func(d []byte, page uint64, rng *rand.Rand) {
		d[page*pages.PageSize+uint64(rng.IntN(pages.PageSize))] ^= 1 << rng.IntN(8)
	},
	"flipped header": func(d []byte, page uint64, rng *rand.Rand) {
		d[page*pages.PageSize+uint64(rng.IntN(64))] ^= 1 << rng.IntN(8)
	},
	"torn": func(d []byte, page uint64, rng *rand.Rand) { // the rest is what lay there before
		at := page*pages.PageSize + uint64(1+rng.IntN(7))*512
		for i := range (page+1)*pages.PageSize - at {
			d[at+i] = byte(rng.IntN(256))
		}
	},
	"other page": func(d []byte, page uint64, rng *rand.Rand) {
		from := uint64(2+rng.IntN(len(d)/pages.PageSize-2)) * pages.PageSize
		copy(d[page*pages.PageSize:][:pages.PageSize], d[from:][:pages.PageSize])
	},
	"cut off": func(d []byte, page uint64, _ *rand.Rand) { clear(d[page*pages.PageSize:]) },
}

// TestRepairKeepsEveryRowWhosePageIsIntact harms pages of every kind in every way.
func TestRepairKeepsEveryRowWhosePageIsIntact(t *testing.T) {
	t.Parallel()
	for _, snapshot := range []bool{false, true} {
		w := live(t, snapshot)
		byKind := map[string][]uint64{}
		for _, page := range slices.Sorted(maps.Keys(w.kinds)) {
			byKind[w.kinds[page]] = append(byKind[w.kinds[page]], page)
		}
		if len(byKind) != 5 {
			t.Fatalf("the corpus has pages of kinds %v", slices.Collect(maps.Keys(byKind)))
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for _, kind := range slices.Sorted(maps.Keys(byKind)) {
			for _, harm := range slices.Sorted(maps.Keys(harms)) {
				pages := byKind[kind]
				for range 4 {
					page := pages[rng.IntN(len(pages))]
					t.Run(fmt.Sprintf("snapshot %v/%s/%s/page %d", snapshot, kind, harm, page), func(t *testing.T) { w.harmed(t, harm, page, rng) })
				}
			}
		}
	}
}

func (w *lived) harmed(t *testing.T, harm string, page uint64, rng *rand.Rand) {
	data := bytes.Clone(w.good)
	harms[harm](data, page, rng)
	if harm == "cut off" {
		data = data[:page*pages.PageSize]
	}
	removeAside(t, w.path)
	if err := os.WriteFile(w.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	before := Verify(w.path)
	db, report := startReport(t, w.path, Options{Age: ages, Names: theNames})
	if before == nil != (report.Repair == nil) {
		t.Fatalf("verified as %v, repaired %+v", before, report.Repair)
	}
	if report.Repair == nil {
		report.Repair = &Repair{Headless: w.kinds[page] == "meta"} // a lost header is one change back
	}
	harmed := func(at string) bool { // where the file was cut off, what leads to a page may be gone and too little left to be sure
		return harm == "cut off" || slices.Contains(w.pages[at], page)
	}
	served := map[string]record{}
	view(t, db, func(tx *Tx) error {
		for _, table := range []Table[record]{records, few} {
			for key, r := range table.All(tx) {
				served[place(string(table.bucket), []byte(key))] = r
			}
		}
		items, err := log.After(tx, 0, 1000)
		for _, item := range items {
			served[place(string(log.bucket), layout.Key(item.Seq))] = item.Value
		}
		if err != nil || tx.Err() != nil || log.Len(tx) != len(items) {
			t.Errorf("%v, %v, %d items of %d", err, tx.Err(), len(items), log.Len(tx))
		}
		return nil
	})
	w.judge(t, served, harmed, *report.Repair)
	if seq := push(t, db, log, 1); seq <= w.last && !(report.Quarantined == "" && report.Repair.Headless) {
		t.Errorf("number %d was given before, up to %d", seq, w.last)
	}
}

// judge wants every row that could be read, no row that never was, and a word about everything else.
func (w *lived) judge(t *testing.T, served map[string]record, harmed func(string) bool, told Repair) {
	t.Helper()
	for at, want := range w.rows {
		bucket, _, _ := strings.Cut(at, "\x00")
		got, ok := served[at]
		switch {
		case ok && got == want:
		case !harmed(at) && !told.Headless:
			t.Errorf("%q lies on a sound page and reads %v %d, want %d: %v %+v", at, ok, got.N, want.N, told.Cause, told.Tables)
		case ok && !slices.Contains(w.was[at], got):
			t.Errorf("%q reads %d, which it never was", at, got.N)
		case !told.Doubtful(bucket):
			t.Errorf("%q reads %v %d, want %d, and nobody says so: %+v", at, ok, got.N, want.N, told)
		}
	}
	for at, got := range served {
		bucket, _, _ := strings.Cut(at, "\x00")
		if _, ok := w.rows[at]; !ok && !told.Doubtful(bucket) {
			t.Errorf("%q was deleted and reads %d, and nobody says so", at, got.N)
		}
	}
}

func removeAside(t *testing.T, path string) {
	t.Helper()
	aside, err := disk.Siblings(path, kindDamaged)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range aside {
		if err := os.Remove(f.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOneLostPageWithoutSnapshotLosesItsRowsOnly is a building with 80 bookings of which one page goes.
func TestOneLostPageWithoutSnapshotLosesItsRowsOnly(t *testing.T) {
	t.Parallel()
	w := &lived{path: tempPath(t), rows: map[string]record{}}
	db, _, err := Open(context.Background(), w.path, Options{Age: ages})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 80 {
		update(t, db, func(tx *Tx) error {
			key := strconv.Itoa(1000 + i)
			r := record{strings.Repeat("b", 500), i + 1}
			w.rows[place(string(records.bucket), []byte(key))] = r
			return records.Put(tx, key, r)
		})
	}
	stop(t, db)
	w.good = readFile(t, w.path)
	w.map_(t)
	for page, kind := range w.kinds {
		if kind == "meta" {
			continue
		}
		data := bytes.Clone(w.good)
		clear(data[page*pages.PageSize:][:pages.PageSize])
		if err := os.WriteFile(w.path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, report, err := Open(context.Background(), w.path, Options{Age: ages})
		if err != nil {
			t.Fatal(err)
		}
		lost := 0
		view(t, db, func(tx *Tx) error {
			for at := range w.rows {
				_, key, _ := strings.Cut(at, "\x00")
				if r, err := records.Get(tx, key); err != nil {
					lost++
					if !slices.Contains(w.pages[at], page) {
						t.Errorf("%s %d zeroed: %s is lost", kind, page, key)
					}
				} else if r != w.rows[at] {
					t.Errorf("%s %d zeroed: %s reads %d", kind, page, key, r.N)
				}
			}
			return nil
		})
		if lost > 10 || lost > 0 && !report.Repair.Doubtful("table:record") {
			t.Errorf("%s %d zeroed: %d of 80 lost, told %+v", kind, page, lost, report.Repair)
		}
		stop(t, db)
		removeAside(t, w.path)
	}
}

// TestNoCountHidesRows flips each bit of how many elements a page counts: fewer of them would hide rows.
func TestNoCountHidesRows(t *testing.T) {
	t.Parallel()
	w := live(t, false)
	for page, kind := range w.kinds {
		for bit := range 16 {
			data := bytes.Clone(w.good)
			if kind == "meta" || kind == "overflow" || int(little.Uint16(data[page*pages.PageSize+10:])) == 0 {
				continue
			}
			data[int(page)*pages.PageSize+10+bit/8] ^= 1 << (bit % 8)
			if err := verifyImage(bytes.NewReader(data), int64(len(data))); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s %d, bit %d: %v", kind, page, bit, err)
			}
		}
	}
}
