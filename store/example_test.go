package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"roomgate/store"
)

type reading struct {
	Value string `json:"value"`
}

func openTemporary() (*store.DB, func()) {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	db, _, err := store.Open(context.Background(), filepath.Join(dir, "gateway.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	return db, func() { _ = errors.Join(db.Close(), os.RemoveAll(dir)) }
}

func ExampleTable() {
	db, done := openTemporary()
	defer done()
	status := store.NewTable[reading]("status")

	err := db.Update(context.Background(), func(tx *store.Tx) error {
		return errors.Join(
			status.Put(tx, "aurora/lock", reading{"closed"}),
			status.Put(tx, "aurora/light", reading{"on"}),
			status.Put(tx, "aurora/lock", reading{"open"}),
		)
	})
	fmt.Println("stored:", err)

	err = db.View(func(tx *store.Tx) error {
		for key, r := range status.All(tx) {
			fmt.Println(key, r.Value)
		}
		_, err := status.Get(tx, "aurora/fan")
		fmt.Println(err, errors.Is(err, store.ErrNotFound))
		return tx.Err()
	})
	fmt.Println("read:", err)
	// Output:
	// stored: <nil>
	// aurora/light on
	// aurora/lock open
	// table "status", key "aurora/fan": not found true
	// read: <nil>
}

func ExampleQueue() {
	db, done := openTemporary()
	defer done()
	events := store.NewQueue[reading]("event", 3, store.DropOldest)

	for _, value := range []string{"a", "b", "c", "d"} {
		err := db.Update(context.Background(), func(tx *store.Tx) error {
			seq, err := events.Push(tx, reading{value})
			fmt.Println("number", seq)
			return err
		})
		if err != nil {
			fmt.Println(err)
		}
	}

	var batch []store.Item[reading]
	err := db.View(func(tx *store.Tx) (err error) {
		batch, err = events.After(tx, 0, 2)
		return errors.Join(err, tx.Err())
	})
	fmt.Println(batch, err)

	err = db.Update(context.Background(), func(tx *store.Tx) error {
		n, err := events.Trim(tx, batch[len(batch)-1].Seq)
		fmt.Println("sent", n, "left", events.Len(tx), "dropped", events.Dropped(tx))
		return err
	})
	fmt.Println(err)
	// Output:
	// number 1
	// number 2
	// number 3
	// number 4
	// [{2 {b}} {3 {c}}] <nil>
	// sent 2 left 1 dropped 1
	// <nil>
}
