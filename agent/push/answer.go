package push

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"roomgate/agent/outgoing"
	"roomgate/agent/printable"
)

// Kind is what an answer means for what waits.
type Kind int

// The kinds.
const (
	Taken Kind = iota
	Never      // this note will never be taken
	Later      // no note is taken now: the gateway is down, busy, or knows us not
	Again      // this note was not taken now, another might be
)

// Answer is the result of one attempt.
type Answer struct {
	Kind       Kind
	Status     int           // of HTTP; 0: none came
	Error      string        // why it was not taken, for a person; never the token
	RetryAfter time.Duration // asked for, at most 24 h
}

// judge reads an answer by its status. ntfy's own codes (server/errors.go) say
// nothing that it does not.
func judge(resp *http.Response, body []byte, now time.Time) Answer {
	a := Answer{Status: resp.StatusCode}
	switch s := a.Status; {
	case s >= 200 && s < 300:
		return a
	case s >= 300 && s < 400:
		a.Kind, a.Error = Later, fmt.Sprintf("it answered %d, and redirects are not followed: name in push.url what it leads to", s)
		return a
	case s == http.StatusUnauthorized:
		a.Kind = Later
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed: // the root of an ntfy server is neither
		a.Kind = Later
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s == http.StatusTooEarly, s == http.StatusServiceUnavailable:
		a.Kind = Later
	case s >= 500:
		a.Kind = Again
	default:
		a.Kind = Never
	}
	a.RetryAfter = outgoing.RetryAfter(resp.Header.Get("Retry-After"), now)
	a.Error = fmt.Sprintf("it answered %d%s", a.Status, said(body))
	return a
}

// maxSaid bounds what is repeated of an answer, in bytes.
const maxSaid = 100

// said is why, in the gateway's words (ntfy: {"code","http","error","link"}).
func said(body []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil || e.Error == "" {
		return ""
	}
	words := strings.Map(func(r rune) rune {
		if printable.Hidden(r) {
			return ' '
		}
		return r
	}, e.Error)
	return ": " + printable.Cut(words, maxSaid, "…")
}

// broken words an attempt without an answer.
func broken(err error) Answer {
	var (
		dns     *net.DNSError
		verify  *tls.CertificateVerificationError
		timeout net.Error
	)
	a := Answer{Kind: Later, Error: "the connection failed"}
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		a.Error = "its host name is not known"
	case errors.As(err, &dns):
		a.Error = "its host name cannot be looked up now"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ENETDOWN):
		a.Error = "there is no network to it"
	case errors.Is(err, syscall.ECONNREFUSED):
		a.Error = "it refuses connections"
	case errors.As(err, &verify):
		a.Error = "its certificate is not trusted: see push.ca_file"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		a.Error = fmt.Sprintf("it did not answer within %v", Timeout)
	}
	return a
}

// pauses are the times between two tries. The last one repeats.
var pauses = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}

// Backoff is how long to wait after so many failed tries, from 1. The spread,
// from 0 to 1, makes it up to a quarter longer, so that many gateways do not
// come at once, and none comes before Retry-After is over.
func Backoff(tries int, a Answer, spread float64) time.Duration {
	pause := max(pauses[min(max(tries, 1), len(pauses))-1], a.RetryAfter)
	return pause + time.Duration(spread*float64(pause)/4)
}
