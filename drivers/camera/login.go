package camera

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/icholy/digest"
)

// login returns the way on which requests are authenticated. It is made again
// for each picture: a challenge is never old, and a password file may change.
func (w *web) login() (http.RoundTripper, error) {
	plain := bounded{w.transport, w.opts.MaxBytes}
	if w.opts.Auth == authNone || w.opts.Username == "" {
		return plain, nil
	}
	password, err := w.opts.Password.Reveal(w.opts.PasswordFile)
	if err != nil {
		return nil, err
	}
	b := basic{plain, w.opts.Username, password}
	d := &digest.Transport{Username: w.opts.Username, Password: password, Transport: plain}
	switch w.opts.Auth {
	case authBasic:
		return b, nil
	case authDigest:
		return d, nil
	}
	return either{d, b}, nil
}

// basic sends the password with every request (RFC 7617).
type basic struct {
	next               http.RoundTripper
	username, password string
}

// RoundTrip sends a request.
func (b basic) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.SetBasicAuth(b.username, b.password)
	return b.next.RoundTrip(req)
}

// either answers a digest challenge, and a basic one only if that is all that
// the camera offers.
type either struct {
	digest http.RoundTripper
	basic  http.RoundTripper
}

// RoundTrip sends a request.
func (e either) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := e.digest.RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusUnauthorized || !onlyBasic(res.Header) {
		return res, err
	}
	_ = res.Body.Close() // the digest side may have done so
	return e.basic.RoundTrip(req)
}

func onlyBasic(h http.Header) bool {
	if _, err := digest.FindChallenge(h); !errors.Is(err, digest.ErrNoChallenge) {
		return false
	}
	for _, c := range h.Values("WWW-Authenticate") {
		if len(c) >= 5 && strings.EqualFold(c[:5], "basic") {
			return true
		}
	}
	return false
}

// bounded limits what is read of any answer: anybody who drains it must come to an
// end.
type bounded struct {
	next http.RoundTripper
	max  int64
}

// RoundTrip sends a request.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	limit := b.max + 1 // one more, by which too much is noticed
	if res.StatusCode != http.StatusOK {
		limit = maxOther
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, limit), res.Body}
	return res, nil
}
