package calendar

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"roomgate/agent/outgoing"
)

// FetchError says why a calendar could not be fetched. Its text is for a
// person and holds nothing secret of the URL.
type FetchError struct {
	URL        string        // redacted
	Status     int           // of HTTP; 0: no answer
	RetryAfter time.Duration // that the server asks for; 0: none
	Message    string
	Err        error // the cause, if there is one; its own text may hold the URL
}

func (e *FetchError) Error() string { return "calendar at " + e.URL + ": " + e.Message }
func (e *FetchError) Unwrap() error { return e.Err }

// Redacted is a calendar's URL as it may be shown: scheme and host. The path
// stays hidden like the password, because a calendar's "secret address" is its
// path (Google, Outlook and iCloud all do that).
func Redacted(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return "(an address that cannot be read)"
	}
	return u.Scheme + "://" + u.Host + "/..."
}

// Redacted is the feed's URL as it may be shown and logged.
func (f *Feed) Redacted() string { return Redacted(f.URL) }

// CheckURL says what is wrong with a calendar's URL, in words that do not
// repeat it.
func CheckURL(raw string) error {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return errors.New("url: it cannot be read; write it as https://host/path")
	case u.Scheme == "webcal" || u.Scheme == "webcals":
		return errors.New("url: write https:// instead of " + u.Scheme + "://")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("url: only http and https are possible")
	case u.Hostname() == "":
		return errors.New("url: the host is missing")
	}
	return nil
}

// failure is what is told of a fetch that failed. Of one from a network that is
// not the business of the one who gave the URL it is one sentence, and the cause is
// an *outgoing.Hidden.
func (f *Feed) failure(inside bool, status int, message string, err error) *FetchError {
	if !inside {
		return &FetchError{URL: Redacted(f.URL), Status: status, Message: message, Err: err}
	}
	whole := (*url.Error)(nil)
	switch {
	case err == nil:
		err = errors.New(message)
	case errors.As(err, &whole): // its own text holds the URL
		err = whole.Err
	}
	return &FetchError{URL: Redacted(f.URL), Message: "it " + outgoing.Unreachable, Err: &outgoing.Hidden{Err: err}}
}

// answer is a calendar as it came, or the word that it is the same.
type answer struct {
	inside         bool // see outgoing.Inside
	body           []byte
	etag, modified string
	unchanged      bool
}

func (f *Feed) get(ctx context.Context, old held) (answer, error) {
	req, err := f.request(ctx, old)
	if err != nil {
		return answer{}, f.failure(false, 0, err.Error(), nil)
	}
	resp, err := f.client().Do(req)
	inside := resp != nil && outgoing.Inside(resp) // there is one beside the error of a redirect
	if err != nil {
		return answer{}, f.failure(inside, 0, explain(err), err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && old.packed != nil:
		return answer{inside: inside, unchanged: true}, nil
	case resp.StatusCode != http.StatusOK:
		e := f.failure(inside, resp.StatusCode, explainStatus(resp.StatusCode), nil)
		e.RetryAfter = retryAfter(resp.Header)
		return answer{}, e
	}
	body, err := readBody(resp)
	if errors.Is(err, ErrTooLarge) {
		return answer{}, f.failure(inside, 0, fmt.Sprintf("%v: more than %d MiB", err, maxBytes>>20), err)
	}
	if err != nil {
		return answer{}, f.failure(inside, 0, "the answer broke off: "+explain(err), err)
	}
	return answer{inside: inside, body: body, etag: resp.Header.Get("ETag"), modified: resp.Header.Get("Last-Modified")}, nil
}

func (f *Feed) request(ctx context.Context, old held) (*http.Request, error) {
	if err := CheckURL(f.URL); err != nil {
		return nil, err
	}
	u, err := url.Parse(strings.TrimSpace(f.URL))
	if err != nil {
		return nil, errors.New("url: it cannot be read")
	}
	user := u.User
	u.User = nil // from here on nothing that is logged can hold it
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("url: it cannot be read")
	}
	if user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	req.Header.Set("User-Agent", "Roomgate")
	req.Header.Set("Accept-Encoding", "gzip") // see readBody
	req.Header.Set("Accept", "text/calendar, */*;q=0.1")
	if old.packed != nil && old.etag != "" {
		req.Header.Set("If-None-Match", old.etag)
	}
	if old.packed != nil && old.modified != "" {
		req.Header.Set("If-Modified-Since", old.modified)
	}
	return req, nil
}

// NewClient returns the client that calendars are fetched with, from where the
// policy allows.
func NewClient(p outgoing.Policy) *http.Client {
	return outgoing.New(outgoing.Options{Policy: p, Timeout: timeout, MaxBody: maxBytes})
}

// client is a copy with the feed's own rules for redirects.
func (f *Feed) client() *http.Client {
	c := *f.Client
	c.CheckRedirect = outgoing.Redirects(maxRedirects)
	return &c
}

// explain puts a failure of the network in words. The error's own text is not
// used where it could repeat the URL.
func explain(err error) string {
	var hidden *outgoing.Hidden
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.As(err, &hidden):
		return "it " + hidden.Error()
	case errors.Is(err, outgoing.ErrRedirect):
		if u := (*url.Error)(nil); errors.As(err, &u) {
			return u.Err.Error()
		}
		return outgoing.ErrRedirect.Error()
	case errors.Is(err, context.Canceled):
		return "the fetch was cancelled"
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return "it did not answer in time"
	case errors.As(err, &lookup):
		return "the host " + lookup.Name + " is not known"
	case errors.As(err, &certificate):
		return "its certificate is not valid: " + certificate.Err.Error()
	case errors.As(err, &op):
		return "it cannot be reached: " + op.Err.Error()
	}
	return "the connection failed"
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func explainStatus(status int) string {
	text := fmt.Sprintf("it answered %d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return text + "; check the password in the address, or share the calendar"
	case status == http.StatusNotFound || status == http.StatusGone:
		return text + "; the calendar is no longer there, get its address again"
	case status == http.StatusTooManyRequests:
		return text + "; it is asked too often"
	}
	return text
}

// retryAfter reads Retry-After.
func retryAfter(h http.Header) time.Duration {
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the server's clock made the date; ours may be off
	}
	return min(outgoing.RetryAfter(h.Get("Retry-After"), now), longestRetry)
}
