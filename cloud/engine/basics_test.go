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
	"roomgate/cloud/backend"
	"roomgate/cloud/cell"
)

// soon is how long what waits for nothing may take.
const soon = 15 * time.Second

// What is sent to a gateway that is away waits for it.
func away(f *fleet) {
	f.gateways[0].Leave()
	id, err := f.backend(0).Send(f.t.Context(), f.logins.Gateways[0].User, light)
	f.gateways[0].Restart()
	if err != nil {
		f.t.Fatal(err)
	}
	until(f.t, "the command that waited did not come", soon, func() bool { return f.gateways[0].Carried(id) })
}

// The broker keeps the last word of each gateway for a backend that comes later, at another node too.
func kept(f *fleet) {
	for _, g := range f.gateways {
		g.Online()
	}
	var mu sync.Mutex
	heard := map[string]bool{}
	for n := range f.backends {
		f.link(cell.BackendUser(n+1), "late", n, []string{cloud.Topics{Gateway: "+"}.Up(cloud.LevelPresence)}, func(m cloud.Message) {
			mu.Lock()
			defer mu.Unlock()
			gateway, _, _, _, _ := cloud.ParseTopic(m.Topic)
			heard[gateway] = m.Retained
		})
	}
	until(f.t, "not all last words were kept", soon, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(heard) == len(f.gateways)
	})
}

// A large configuration comes in parts.
func large(f *fleet) {
	var parts atomic.Int64
	f.gateways[1].Answers(func(string, json.RawMessage) string { parts.Add(1); return "" })
	var users []json.RawMessage
	for i := range 3000 {
		users = append(users, json.RawMessage(fmt.Sprintf(`{"id":"%d","name":"%s"}`, i, strings.Repeat("x", 80))))
	}
	if _, err := f.backend(0).Configure(f.t.Context(), f.logins.Gateways[1].User, backend.Configuration{Revision: 1, Users: users}); err != nil {
		f.t.Fatal(err)
	}
	until(f.t, "not all parts came", soon, func() bool { return parts.Load() >= 5 })
}

// A gateway writes for itself alone: what it says in the name of another one is not stored, or settle
// finds it.
func stranger(f *fleet) {
	own, other := f.logins.Gateways[2].User, cloud.Topics{Gateway: f.logins.Gateways[0].User}
	l := f.link(own, "stranger", 0, nil, nil)
	payload, _ := cloud.Envelope{ID: "forged", Source: "roomgate/" + other.Gateway, Type: cloud.TypeOf(cloud.LevelEvent) + ".doorForced", Time: time.Now(), Sequence: 1 << 40, Data: json.RawMessage(`{}`)}.Encode()
	ctx, stop := context.WithTimeout(f.t.Context(), 2*time.Second)
	defer stop()
	err := l.Publish(ctx, cloud.Message{Topic: other.Up(cloud.LevelEvent), Payload: payload, QoS: 1})
	f.t.Logf("what a gateway says in the name of another one is answered with %v", err)
}

// link is a client of the fleet's brokers until the scenario ends.
func (f *fleet) link(user, clientID string, first int, subscribe []string, hear func(cloud.Message)) *cloud.Link {
	f.t.Helper()
	up := make(chan struct{})
	connected := sync.OnceFunc(func() { close(up) })
	place := 0
	for _, l := range f.logins.Gateways {
		if l.User == user {
			place = l.Cell - 1
		}
	}
	l := cloud.NewLink(cloud.LinkOptions{URL: at(f.brokers(place, first)), ClientID: clientID, Fleeting: true, Login: cloud.LoginAs(user, f.password(user)), Log: quiet,
		MaxBackoff: time.Second, Subscribe: subscribe, Up: func(context.Context) { connected() },
		Receive: func(_ context.Context, m cloud.Message) error {
			if hear != nil {
				hear(m)
			}
			return nil
		}})
	ctx, stop := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { _ = l.Run(ctx) })
	f.t.Cleanup(func() { stop(); loop.Wait() })
	select {
	case <-up:
	case <-time.After(soon):
		f.t.Fatalf("%s cannot connect as %s", user, clientID)
	}
	return l
}
