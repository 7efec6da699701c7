package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"time"
)

// progressHeader says in an interim answer (RFC 9110, 15.2) how far the work is
// that comes before the answer: "done/total", in bytes.
const progressHeader = "Roomgate-Progress"

// tell returns what sends, each time that long after the last one, how far the
// work is. Each gives the answer more time.
func (p *patient) tell(every time.Duration) func(done, total int64) {
	p.extend()
	next := time.Now().Add(every)
	return func(done, total int64) {
		now := time.Now()
		if now.Before(next) {
			return
		}
		next = now.Add(every)
		p.extend()
		p.w.Header().Set(progressHeader, fmt.Sprintf("%d/%d", done, total))
		p.w.WriteHeader(http.StatusProcessing)
		p.w.Header().Del(progressHeader)
	}
}

// hearProgress lets told hear what tell sends in answer to a request. What
// cannot be read is left out.
func hearProgress(ctx context.Context, told func(done, total int64)) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
		var done, total int64
		if _, err := fmt.Sscanf(h.Get(progressHeader), "%d/%d", &done, &total); err == nil && 0 <= done && done <= total {
			told(done, total)
		}
		return nil
	}})
}
