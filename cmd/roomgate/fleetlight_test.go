package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/fleet"
	"roomgate/cloud/backend/rollout"
	"roomgate/cloud/broker"
)

// Light gateways with one database are a fleet as any other: the reference backend has them online with
// their rows, and they answer a configuration.
func TestLightGateways(t *testing.T) {
	t.Parallel()
	b, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	url := "mqtt://" + b.Addr().String()
	silent := slog.New(slog.DiscardHandler)
	f, err := fleet.Open(fleet.Options{Path: filepath.Join(t.TempDir(), "fleet.db"), Key: "k", Log: silent, Broker: backend.Options{URL: url, ClientID: "backend", Log: silent}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	defer func() { stop(); loops.Wait(); _ = f.Close(); _ = b.Close() }()
	loops.Go(func() { _ = b.Run(ctx) })
	loops.Go(func() { _ = f.Run(ctx) })
	db, err := openLightStore(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); loops.Wait(); _ = db.Close() }()
	const n = 5
	gateways := map[string]*lightGateway{}
	for i := range n {
		g := openLight(db, url, i+1, simLogin("", i+1))
		gateways[simName(i+1)] = g
		loops.Go(func() { _ = g.Run(ctx) })
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(60 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	until("not all are online", func() bool {
		online := 0
		for _, g := range f.Gateways() {
			if g.Online {
				online++
			}
		}
		return online == n
	})
	if _, err := f.Start(rolloutOf(gateways)); err != nil {
		t.Fatal(err)
	}
	until("not all took the configuration", func() bool { all, err := f.List(); return err == nil && all[0].State == "done" })
	rows := map[string]int{}
	until("not all rows came", func() bool {
		all, err := f.Rows(0)
		clear(rows)
		for _, r := range all {
			rows[r.Gateway]++
		}
		return err == nil && len(all) >= 2*n
	})
	until("not all rows are acknowledged", func() bool {
		for _, g := range gateways {
			if g.uplink.Stats().Acked < 2 {
				return false
			}
		}
		return true
	})
	for gateway, rows := range rows {
		if rows != 2 {
			t.Errorf("%s has %d rows: want an event and a receipt", gateway, rows)
		}
	}
}

func rolloutOf(gateways map[string]*lightGateway) rollout.Order {
	return rollout.Order{Gateways: slices.Sorted(maps.Keys(gateways)), Config: backend.Configuration{Users: []json.RawMessage{}}, Plan: rollout.Plan{PerMinute: 600, TimeoutS: 60}}
}
