package backend_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	"roomgate/cloud/backend"
)

// A backend that stores what gateways say, each row once, and turns a light on.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ledger, err := backend.OpenFile("backend.db")
	if err != nil {
		log.Fatal(err)
	}
	defer ledger.Close()
	b, err := backend.Open(backend.Options{URL: "mqtts://broker.example.com", ClientID: "backend"})
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		r, err := b.Command(ctx, "hq", backend.Command{MeetingSpaceID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01", DeviceType: "light", Action: "on"})
		if errors.Is(err, backend.ErrNoReceipt) {
			log.Print("nobody knows whether the light is on: ", err)
		}
		fmt.Println(r.State)
	}()
	err = b.Consume(ctx, ledger, func(_ context.Context, tx backend.Tx, r backend.Received) error {
		rows, err := tx.(backend.FileTx).CreateBucketIfNotExists([]byte("rows"))
		if err != nil {
			return err
		}
		return rows.Put([]byte(r.ID), r.Data) // committed together with the knowledge that it came
	})
	if err != nil {
		log.Fatal(err)
	}
}

// ExampleBackend_Fleet looks for doors that are not known to be locked, and for releases that
// are too old.
func ExampleBackend_Fleet() {
	b, err := backend.Open(backend.Options{URL: "mqtts://broker.example.com", ClientID: "backend"})
	if err != nil {
		log.Fatal(err)
	}
	// ... while Consume runs:
	for _, g := range b.Fleet(backend.Gateway.Unlocked) {
		fmt.Println(g.ID, "has a door that is not locked")
	}
	for _, g := range b.Fleet(func(g backend.Gateway) bool { return g.Below("1.4.0") }) {
		fmt.Println(g.ID, "runs", g.Version)
	}
	// Output:
}
