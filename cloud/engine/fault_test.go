package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"roomgate/cloud"
)

// killed is a node that dies and comes back.
func killed(f *fleet) {
	f.kill(0)
	<-time.After(2 * time.Second)
	f.start(0)
}

// alone is a node that the others do not reach; clients do.
func alone(f *fleet) {
	f.isolate(1, true)
	<-time.After(8 * time.Second)
	f.isolate(1, false)
}

// rolled is what an administrator does to update.
func rolled(f *fleet) {
	for n := range f.nodes {
		f.stop(n)
		<-time.After(500 * time.Millisecond)
		f.start(n)
	}
}

// mute takes the gateways' right to write away for a while.
func mute(f *fleet) {
	f.rights(false)
	<-time.After(3 * time.Second)
	f.rights(true)
}

// full lets more come while the backends are away than the engine keeps. An account of NATS
// that is full lets nobody in, so it is given more disk first.
func full(f *fleet) {
	for _, end := range f.ends {
		end()
	}
	if f.disk != nil {
		f.disk("2M")
	}
	before := f.beats.Load()
	const flood = 3000
	acknowledged := f.flood(flood)
	if f.disk != nil {
		f.disk("1G")
	}
	for n := range f.ends {
		f.consume(n)
	}
	<-time.After(2 * time.Second)
	f.t.Logf("while nobody consumed, the broker acknowledged %d of %d messages of 1 kB; %d came afterwards", acknowledged, flood, f.beats.Load()-before)
}

// flood sends heartbeats of a gateway, and says how many the broker has acknowledged.
func (f *fleet) flood(n int) int64 {
	who := f.logins.Gateways[0].User
	l := f.link(who, "flood", 0, nil, nil)
	data, _ := json.Marshal(map[string]string{"filled": strings.Repeat("x", 1000)})
	ctx, stop := context.WithTimeout(f.t.Context(), 15*time.Second)
	defer stop()
	var done atomic.Int64
	var senders sync.WaitGroup
	const many = 16
	for s := range many {
		senders.Go(func() {
			for i := range n / many {
				payload, _ := cloud.Envelope{ID: fmt.Sprint("flood-", s, "-", i), Source: "roomgate/" + who, Type: cloud.TypeOf(cloud.LevelHeartbeat), Time: time.Now(), Data: data}.Encode()
				if l.Publish(ctx, cloud.Message{Topic: cloud.Topics{Gateway: who}.Up(cloud.LevelHeartbeat), Payload: payload, QoS: 1}) == nil {
					done.Add(1)
				}
				if ctx.Err() != nil {
					return
				}
			}
		})
	}
	senders.Wait()
	return done.Load()
}
