package agent

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"roomgate/cloud/backend"
)

// TestReceiptsOfAFullDiskTakeNoRow: with a backlog of rows the disk is full. A backend hears the refusals of 200 commands,
// and hands each row of the backlog on once.
func TestReceiptsOfAFullDiskTakeNoRow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, h := startGuardedCloudy(t, rigOptions{yaml: withDoor + "\ndoors: {unsigned: allow}\n"})
		h.cut(true)
		for n := range 100 {
			r.bench["light-1"].Show("", []string{"on", "off"}[n%2])
			r.wait(20 * time.Second)
		}
		newest, err := r.Events.Last()
		if err != nil || newest < 50 {
			t.Fatalf("a backlog of %d rows, %v", newest, err)
		}
		mend := r.fill()
		h.cut(false)
		var mu sync.Mutex
		rows := map[uint64]int{}
		b, err := backend.Open(backend.Options{URL: "mqtt://cloud", ClientID: "consumer", Dial: h.dial, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- b.Consume(ctx, backend.NewMemory(), func(_ context.Context, _ backend.Tx, m backend.Received) error {
				mu.Lock()
				defer mu.Unlock()
				if m.Row {
					rows[m.Sequence]++
				}
				return nil
			})
		}()
		for n := range 200 {
			if _, err := b.Command(ctx, "test", backend.Command{MeetingSpaceID: room, DeviceType: "light", Action: "on", TTL: 20}); err != nil {
				t.Fatalf("command %d: %v", n, err)
			}
		}
		mend()
		r.wait(5 * time.Minute)
		mu.Lock()
		for seq := range newest {
			if rows[seq+1] != 1 {
				t.Errorf("row %d was handed on %d times", seq+1, rows[seq+1])
			}
		}
		mu.Unlock()
		for _, m := range h.taken("receipt") {
			if m.Sequence > 0 && m.ID != fmt.Sprintf("%s-%d", m.BootID, m.Sequence) {
				t.Fatalf("receipt %s has the number %d of a row", m.ID, m.Sequence)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
