package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"roomgate/cloud/backend"
	"roomgate/cloud/cell"
	"roomgate/cloud/engine/pull"
)

// pulling are the backends of a cell that pull, two where one has a session; they share a
// ledger as those at a database do.
func (f *fleet) pulling(n int) {
	f.t.Helper()
	var ends []func()
	user := cell.BackendUser(n + 1)
	config, err := os.ReadFile(filepath.Join("..", "..", "configs", "nats", "up.json"))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := range 2 {
		name := fmt.Sprint("backend-", i+1)
		url := strings.Join(f.engine.pulls, ",")
		if f.wire == nil && i == 1 {
			f.wire = newWire(f.t, strings.TrimPrefix(f.engine.pulls[0], "nats://"))
		}
		if i == 1 { // whose way can be cut, and which knows no other one
			url = "nats://" + f.wire.address()
		}
		var source *pull.Source
		until(f.t, "there is no stream", 30*time.Second, func() bool {
			ctx, stop := context.WithTimeout(f.t.Context(), 10*time.Second)
			defer stop()
			source, err = pull.Open(ctx, pull.Options{URL: url, Name: name, User: user, Password: f.password(user), Stream: config, Log: quiet})
			if err != nil {
				f.t.Log(err)
			}
			return err == nil
		})
		b, err := backend.Open(backend.Options{URL: at(f.brokers(n, n+i)), ClientID: name, Username: user, Password: f.password(user), Source: source, Log: quiet})
		if err != nil {
			f.t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		var loop sync.WaitGroup
		loop.Go(func() {
			if err := b.Consume(ctx, f.ledger, f.store); err != nil {
				f.t.Error(err)
			}
		})
		ends = append(ends, func() { stop(); loop.Wait(); source.Close() })
		f.mu.Lock()
		f.backends[n] = b
		f.mu.Unlock()
	}
	f.mu.Lock()
	f.ends[n] = func() {
		for _, end := range ends {
			end()
		}
	}
	f.mu.Unlock()
}

// cutOff is a backend that cannot reach the stream for so long that the other one takes over.
func cutOff(f *fleet) {
	f.wire.part(true)
	<-time.After(15 * time.Second)
	f.wire.part(false)
}
