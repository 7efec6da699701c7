package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"roomgate/agent/outgoing"
)

// FuzzAnswer lets a receiver answer with any bytes: each answer says a status or
// what went wrong, delays the next attempt by a day at most, and takes no memory
// for a size that it only says.
func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{
		"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 99999999999\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 503 x\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999\r\n\r\nx", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\nx",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 410 Gone\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/9.9 000 \r\n", "",
	} {
		f.Add([]byte(answer))
	}
	secrets := []Secret{NewSecret()}
	var played []byte // one after the other
	client := NewClient(outgoing.Policy{})
	client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return newPlayed(played), nil
	}}
	s := NewSender(client)
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, answer []byte) {
		if len(answer) > 4096 { // TestGigabyteIsBounded has the long ones
			return
		}
		played = answer
		var a Answer
		took := allocated(func() { a = s.Send(t.Context(), "http://receiver.example/hook", "msg_1", []byte("{}"), secrets) })
		if took > uint64(16*len(answer)+1<<20) {
			t.Errorf("%d bytes take %d of memory", len(answer), took)
		}
		if a.Success() != (a.Error == "") || a.RetryAfter < 0 || a.RetryAfter > outgoing.LongestRetryAfter || len(a.Error) > 300 {
			t.Errorf("%q is %+v", answer, a)
		}
		if next := (Delivery{}).After(a, time.Now()); next.NextAt.After(time.Now().Add(LongestWait + time.Minute)) {
			t.Errorf("%q: the next attempt is at %v", answer, next.NextAt)
		}
	})
}

// played is a connection on which the same bytes come as soon as something was
// said.
type played struct {
	net.Conn
	answer io.Reader
	asked  chan struct{}
	once   sync.Once
}

func newPlayed(answer []byte) *played {
	return &played{answer: bytes.NewReader(answer), asked: make(chan struct{})}
}

func (p *played) Read(b []byte) (int, error) { <-p.asked; return p.answer.Read(b) }
func (p *played) Write(b []byte) (int, error) {
	p.once.Do(func() { close(p.asked) })
	return len(b), nil
}
func (p *played) Close() error                { p.once.Do(func() { close(p.asked) }); return nil }
func (p *played) SetDeadline(time.Time) error { return errors.ErrUnsupported }
func (p *played) LocalAddr() net.Addr         { return &net.TCPAddr{} }
func (p *played) RemoteAddr() net.Addr        { return &net.TCPAddr{} }

// allocated is how much memory f asks for, in bytes.
func allocated(f func()) uint64 {
	count := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(count)
	before := count[0].Value.Uint64()
	f()
	metrics.Read(count)
	return count[0].Value.Uint64() - before
}
