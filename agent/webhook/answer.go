package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// longestRetryAfter bounds how long a receiver can make us wait: as long as the
// schedule's last step, so that a wrong value ends nothing.
const longestRetryAfter = 24 * time.Hour

// Answer is what came of one attempt.
type Answer struct {
	Status     int           // of HTTP; 0: none came
	RetryAfter time.Duration // asked for with 429 or 503, at most 24 h
	Error      string        // why it did not succeed, for a person
	Offline    bool          // it never left: the gateway has no network or no DNS
	Took       time.Duration
}

// Success says whether the receiver has taken the notification: any 2xx.
func (a Answer) Success() bool { return a.Status >= 200 && a.Status < 300 }

// Gone says whether the receiver wants no more (410).
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
		a.RetryAfter = RetryAfter(resp.Header.Get("Retry-After"), now)
	}
	return a
}

// RetryAfter reads the header (RFC 9110, 10.2.3): seconds or a date. What
// cannot be read, or is over, is 0; none is beyond 24 h.
func RetryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseUint(text, 10, 63); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(longestRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), longestRetryAfter)
}

// failed words an attempt without an answer. The words name no inner address
// but one that was refused, and nothing of what the other side has said.
func failed(err error) Answer {
	var (
		address *AddressError
		dns     *net.DNSError
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		timeout net.Error
	)
	switch {
	case errors.As(err, &address):
		return Answer{Error: "the url " + address.Error()}
	case errors.As(err, &dns) && dns.IsNotFound:
		return Answer{Error: "the receiver's host name is not known"}
	case errors.As(err, &dns):
		return Answer{Error: "the receiver's host name cannot be looked up now", Offline: true}
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ENETDOWN):
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
