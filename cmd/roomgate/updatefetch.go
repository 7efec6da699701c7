package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"roomgate/agent/outgoing"
	"roomgate/agent/update"
)

// maxRedirects is how often a server may say that a bundle is elsewhere.
const maxRedirects = 3

// updateClient is what bundles are fetched with. The owner's cloud names where from, and as all that the owner
// configures it may be in the building, with keys and without: where signatures are wanted only a signed configuration
// names an address, and where none are, whoever has the broker may do more than ask a server for a bundle, which counts only
// if its vendor has signed it. It is never this machine, and only https: a cloud that was taken over must not speak to what
// only listens to it.
func updateClient() *http.Client {
	return outgoing.New(outgoing.Options{Policy: outgoing.Policy{AllowPrivate: true}, MaxBody: update.MaxBundle + 1})
}

// fetchBundle fetches by https and follows a few redirects, as stores of files
// have them. It goes on where an
// earlier try ended if the server can (RFC 9110, 13.1.5 and 14.2).
func fetchBundle(c *http.Client) update.Fetch {
	c.CheckRedirect = outgoing.Redirects(maxRedirects)
	ask := func(ctx context.Context, address string, from int64, validator string) (*http.Response, error) {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		if from > 0 {
			q.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
			q.Header.Set("If-Range", validator)
		}
		answer, err := c.Do(q)
		if whole := (*url.Error)(nil); errors.As(err, &whole) { // its own text holds the address, which may hold a key
			err = whole.Err
		}
		return answer, err
	}
	return func(ctx context.Context, url string, from int64, validator string) (update.Body, error) {
		answer, err := ask(ctx, url, from, validator)
		if err == nil && from > 0 && answer.StatusCode == http.StatusRequestedRangeNotSatisfiable { // it has no more
			_ = answer.Body.Close() // nothing of it is wanted
			from = 0
			answer, err = ask(ctx, url, 0, "")
		}
		if err != nil {
			return update.Body{}, err
		}
		body, err := bundleBody(answer, from)
		if err != nil {
			err = errors.Join(err, answer.Body.Close())
		}
		return body, err
	}
}

// bundleBody is what an answer holds of a bundle that was asked for from an offset
// on.
func bundleBody(answer *http.Response, from int64) (update.Body, error) {
	b := update.Body{ReadCloser: answer.Body, Size: answer.ContentLength, Validator: strongValidator(answer.Header)}
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		return b, nil
	case code == http.StatusPartialContent:
		if _, err := fmt.Sscanf(answer.Header.Get("Content-Range"), "bytes %d-", &b.From); err != nil || b.From != from {
			return b, fmt.Errorf("the server sends the part %.60q, and from %d on was asked for", answer.Header.Get("Content-Range"), from)
		}
		if b.Size >= 0 {
			b.Size += from
		}
		return b, nil
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound, code == http.StatusGone:
		return b, &update.Refused{Cause: update.NotThere, Reason: fmt.Sprintf("the server answers %d: see that the bundle is at that address and may be read by everybody", code)}
	}
	return b, errors.New("the server answers " + answer.Status)
}

// strongValidator names these very bytes: what is only alike, or is of a second in
// which it may have changed twice, does not (RFC 9110, 8.8.1).
func strongValidator(h http.Header) string {
	if tag := h.Get("ETag"); len(tag) <= 256 && strings.HasPrefix(tag, `"`) {
		return tag
	}
	return ""
}
