package api

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/schedule"
)

// BenchmarkDoorStreams changes a room before 200 displays that show it. One
// iteration is one change until the last of them has read it; rendered/op is how
// often it was rendered for that.
func BenchmarkDoorStreams(b *testing.B) {
	const displays = 200
	w := openBuilding(b)
	defer func() { w.end() }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = w.server.Serve(ctx, l, w.server.Handler()) })
	defer all.Wait()
	defer cancel()
	code, _, err := w.agent.Edges.NewCode(aurora)
	if err != nil {
		b.Fatal(err)
	}
	_, secret, err := w.agent.Edges.Register(ctx, code, displayDevice, clientAddress(&http.Request{RemoteAddr: "192.0.2.9:1"}))
	if err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{}, displays)
	for range displays {
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://"+l.Addr().String()+"/display/"+aurora+"/stream", nil)
		r.Header.Set("X-API-Key", secret)
		r.Header.Set("Accept", "text/event-stream")
		resp, err := http.DefaultClient.Do(r)
		if err != nil || resp.StatusCode != 200 {
			b.Fatal(resp, err)
		}
		all.Go(func() {
			defer resp.Body.Close()
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				if lines.Text() == "event: head" {
					read <- struct{}{}
				}
			}
		})
	}
	wait := func() {
		for range displays {
			<-read
		}
	}
	wait()
	feed, err := w.server.doors.feed(aurora)
	if err != nil {
		b.Fatal(err)
	}
	before, changes := renderings(b, feed), 0
	for b.Loop() {
		made, _, err := w.agent.Bookings.Create(ctx, booking.Booking{SpaceID: aurora, Source: booking.WalkUp}, schedule.Caller{})
		if err != nil {
			b.Fatal(err)
		}
		wait()
		b.StopTimer()
		if _, err := w.agent.Bookings.End(ctx, made.ID, schedule.Caller{}); err != nil {
			b.Fatal(err)
		}
		wait()
		time.Sleep(2 * frameEvery) // a frame waits that long for the next one
		b.StartTimer()
		changes++
	}
	b.ReportMetric(float64(renderings(b, feed)-before)/float64(2*changes), "rendered/change")
}
