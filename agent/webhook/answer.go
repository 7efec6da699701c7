package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"roomgate/agent/outgoing"
)

// Answer is the result of one attempt.
type Answer struct {
	Status     int           // of HTTP; 0: none came
	RetryAfter time.Duration // asked for with 429 or 503, at most 24 h
	Error      string        // why it did not succeed, for a person
	Detail     string        // what Error hides, for the log of the gateway; empty: nothing
	Offline    bool          // it never left: the gateway has no network or no DNS
	Took       time.Duration
	// Waited is how long the notification has waited in a gateway that ran: what
	// never left is given up by time that was lived through.
	Waited time.Duration
}

// attempt is what is shown of it.
func (a Answer) attempt(now time.Time) Attempt {
	shown := Attempt{At: stamp(now.Add(-a.Took)), Error: a.Error}
	if a.Detail == "" { // else how soon and with what it was answered is hidden too
		shown.Status, shown.TookMS = a.Status, a.Took.Milliseconds()
	}
	return shown
}

// Success says whether the receiver has taken the notification: any 2xx.
func (a Answer) Success() bool { return a.Status >= 200 && a.Status < 300 }

// Gone says whether the receiver wants no more notifications (status 410).
func (a Answer) Gone() bool { return a.Status == http.StatusGone }

// judge reads what matters of an answer's head.
func judge(resp *http.Response, now time.Time) Answer {
	a := Answer{Status: resp.StatusCode}
	switch {
	case a.Success():
	case a.Status >= 300 && a.Status < 400:
		a.Error = fmt.Sprintf("the receiver answered %d, and redirects are not followed: register the address that it leads to", a.Status)
	case a.Gone():
		a.Error = "the receiver answered 410: it wants no more"
	default:
		a.Error = fmt.Sprintf("the receiver answered %d", a.Status)
	}
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		a.RetryAfter = outgoing.RetryAfter(resp.Header.Get("Retry-After"), now)
	}
	if outgoing.Inside(resp) && !a.Success() && !a.Gone() {
		a.Error, a.Detail = unreachable, a.Error
	}
	return a
}

// unreachable is all that is said of a receiver in a network that is not the
// business of whoever registered it.
const unreachable = "the receiver " + outgoing.Unreachable

// noNetwork says whether an attempt failed before it left the gateway.
func noNetwork(err error) bool {
	return errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.ENETDOWN)
}

// failed words an attempt without an answer. The words name no address and
// nothing of what the other side has said.
func failed(err error) Answer {
	var (
		hidden  *outgoing.Hidden
		dns     *net.DNSError
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		timeout net.Error
	)
	switch {
	case errors.As(err, &hidden):
		return Answer{Error: unreachable, Detail: hidden.Err.Error(), Offline: noNetwork(err)}
	case errors.As(err, &dns) && dns.IsNotFound:
		return Answer{Error: "the receiver's host name is not known"}
	case errors.As(err, &dns):
		return Answer{Error: "the receiver's host name cannot be looked up now", Offline: true}
	case noNetwork(err):
		return Answer{Error: "the gateway has no network to the receiver", Offline: true}
	case errors.As(err, &unknown), errors.As(err, &verify):
		return Answer{Error: "the receiver's certificate is not trusted"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return Answer{Error: "the receiver refuses connections"}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return Answer{Error: fmt.Sprintf("the receiver did not answer within %v", Timeout)}
	}
	return Answer{Error: "the connection to the receiver failed"}
}
