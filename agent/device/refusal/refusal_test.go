package refusal

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"roomgate/agent/clock"
	"roomgate/store"
)

// TestRefusalsAreForgottenByAge: more than there is room for push out none that is young.
func TestRefusalsAreForgottenByAge(t *testing.T) {
	db, _, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), store.Options{Schema: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const memory = time.Hour
	ids := &IDs{}
	found := func(id string) (ok bool) {
		err := db.View(func(tx *store.Tx) (err error) { _, ok, err = ids.Find(tx, id); return err })
		return ok && err == nil
	}
	put := func(from, to int, lived clock.Lived) (stored int) {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			for i := from; i < to; i++ {
				ok, err := ids.Put(tx, Row{ID: fmt.Sprint("r", i), State: "rejected", Lived: lived}, memory)
				if err != nil {
					return err
				}
				if ok {
					stored++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	if n := put(0, Most+2, 1); n != Most || !found("r0") || found(fmt.Sprint("r", Most)) {
		t.Errorf("%d are stored of %d young, the oldest: %v, the newest: %v", n, Most+2, found("r0"), found(fmt.Sprint("r", Most)))
	}
	if n := put(Most, Most+2, clock.Lived(memory.Seconds())+1); n != 2 || found("r0") || !found(fmt.Sprint("r", Most)) {
		t.Errorf("%d are stored of 2 when the others are old, the oldest: %v, the newest: %v", n, found("r0"), found(fmt.Sprint("r", Most)))
	}
	again := &IDs{}
	if err := db.View(again.Recall); err != nil || len(again.at) != len(ids.at) {
		t.Errorf("%d of %d are recalled, %v", len(again.at), len(ids.at), err)
	}
	if err := db.View(func(tx *store.Tx) error {
		if n := Len(tx); n != len(ids.at) {
			t.Errorf("memory has %d places of %d rows", len(ids.at), n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
