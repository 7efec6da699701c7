package cloudlink

import (
	"context"
	"log/slog"
	"testing"

	"roomgate/cloud"
)

// One subscription brings every level, also one that this version does not know: that
// is dropped with a word, and the link stays.
func TestOneSubscription(t *testing.T) {
	address := openBroker(t, nil)
	for _, c := range []struct{ level, taken string }{{"firmware", ""}, {"command/more", ""}, {"command", "m"}} {
		r := openRig(t)
		up := make(chan struct{}, 9)
		o := r.o
		o.Cloud.URL, o.Gateway, o.Up, o.Log = "mqtt://"+address, "test", func() { up <- struct{}{} }, slog.New(slog.DiscardHandler)
		if err := r.Open(o); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		<-up
		sender := cloud.NewLink(cloud.LinkOptions{URL: "mqtt://" + address, ClientID: "backend", Fleeting: true, Log: slog.New(slog.DiscardHandler),
			Up: func(context.Context) { up <- struct{}{} }})
		go func() { ended <- sender.Run(ctx) }()
		<-up
		payload, _ := cloud.Envelope{ID: "m", Source: "backend", Type: "roomgate." + c.level, Data: []byte("{}")}.Encode()
		for _, level := range []string{c.level, "ack"} { // the second tells that the first is through
			if level == "ack" {
				payload = []byte(`{"specversion":"1.0","id":"last","source":"backend","type":"roomgate.ack"}`)
			}
			if err := sender.Publish(ctx, cloud.Message{Topic: r.topics.Down(level), Payload: payload, QoS: 1}); err != nil {
				t.Fatal(err)
			}
		}
		<-r.through
		if got := append(r.taken, "")[0]; got != c.taken || !r.Connected() {
			t.Errorf("%s: taken %q, connected %v", c.level, got, r.Connected())
		}
		cancel()
		<-ended
		<-ended
	}
}
