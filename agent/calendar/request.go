package calendar

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
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

var errRedirect = errors.New("redirect refused")

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

// answer is a calendar as it came, or the word that it is the same.
type answer struct {
	body           []byte
	etag, modified string
	unchanged      bool
}

func (f *Feed) get(ctx context.Context, old held) (answer, error) {
	fail := func(message string, err error) (answer, error) {
		return answer{}, &FetchError{URL: Redacted(f.URL), Message: message, Err: err}
	}
	req, err := f.request(ctx, old)
	if err != nil {
		return fail(err.Error(), nil)
	}
	resp, err := f.client().Do(req)
	if err != nil {
		return fail(explain(err), err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && old.packed != nil:
		return answer{unchanged: true}, nil
	case resp.StatusCode != http.StatusOK:
		return answer{}, &FetchError{URL: Redacted(f.URL), Status: resp.StatusCode,
			Message: explainStatus(resp.StatusCode), RetryAfter: retryAfter(resp.Header)}
	}
	body, err := readBody(resp)
	if errors.Is(err, ErrTooLarge) {
		return fail(fmt.Sprintf("%v: more than %d MiB", err, maxBytes>>20), err)
	}
	if err != nil {
		return fail("the answer broke off: "+explain(err), err)
	}
	return answer{body: body, etag: resp.Header.Get("ETag"), modified: resp.Header.Get("Last-Modified")}, nil
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
	req.Header.Set("Accept", "text/calendar, */*;q=0.1")
	if old.packed != nil && old.etag != "" {
		req.Header.Set("If-None-Match", old.etag)
	}
	if old.packed != nil && old.modified != "" {
		req.Header.Set("If-Modified-Since", old.modified)
	}
	return req, nil
}

// client is a copy with the feed's own rules for redirects.
func (f *Feed) client() *http.Client {
	c := http.Client{Timeout: defaultTimeout}
	if f.Client != nil {
		c = *f.Client
	}
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch last := via[len(via)-1].URL; {
		case len(via) > maxRedirects:
			return fmt.Errorf("%w: more than %d of them", errRedirect, maxRedirects)
		case CheckURL(req.URL.String()) != nil:
			return fmt.Errorf("%w: it leads to an address that is not http or https", errRedirect)
		case last.Scheme == "https" && req.URL.Scheme == "http":
			return fmt.Errorf("%w: it leads from https to http", errRedirect)
		}
		// The server may not choose a password, nor learn where we came from.
		req.URL.User = nil
		req.Header.Del("Referer")
		return nil
	}
	return &c
}

// explain puts a failure of the network in words. The error's own text is not
// used where it could repeat the URL.
func explain(err error) string {
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.Is(err, errRedirect):
		if u := (*url.Error)(nil); errors.As(err, &u) {
			return u.Err.Error()
		}
		return errRedirect.Error()
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

// retryAfter reads Retry-After, seconds or a date (RFC 9110, 10.2.3).
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(n, 0), int(longestRetry/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the server's clock made the date; ours may be off
	}
	return min(max(0, at.Sub(now)), longestRetry)
}
