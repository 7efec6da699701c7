package camera

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"roomgate/drivers"
)

// maxOther bounds the body of an answer that is no picture.
const maxOther = 64 << 10

// maxRedirects bounds the detours that a camera may send us on.
const maxRedirects = 3

var (
	errRefused   = errors.New("camera refuses the login: check username, password and auth")
	errElsewhere = errors.New("camera redirects to another host, and the gateway does not follow: put the right address into url")
)

// web speaks HTTP to the camera, one connection per request: idle ones are
// scarce in cameras, and tell nothing.
type web struct {
	opts      Options
	buses     drivers.Buses
	address   string
	transport *http.Transport
}

func newWeb(o Options, b drivers.Buses) (*web, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, refuse("url", "is not an address")
	}
	config, err := o.tls()
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	w := &web{opts: o, buses: b, address: net.JoinHostPort(u.Hostname(), port)}
	w.transport = &http.Transport{
		DialContext:            w.dial,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    o.Timeout,
		DisableKeepAlives:      true,
		DisableCompression:     true, // a JPEG is compressed; what unpacks to more than was sent is a trap
		MaxResponseHeaderBytes: maxOther,
	}
	return w, nil
}

// dial has a limit of its own, as the transport goes on with it when the
// request has been given up.
func (w *web) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, w.opts.Timeout)
	defer cancel()
	return w.buses.Dial(ctx, network, address)
}

// tls is how an https camera is recognized: by the system's certificates, by
// those in a file, or by its own certificate alone.
func (o *Options) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pem, err := drivers.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, refuse("ca_file", "has no certificate in it: want PEM")
		}
	}
	pin, err := o.pin()
	if err != nil || pin == nil {
		return c, err
	}
	c.InsecureSkipVerify = true // in favour of the stricter check below
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if sum := sha256.Sum256(s.PeerCertificates[0].Raw); !bytes.Equal(sum[:], pin) {
			return errors.New("camera's certificate has another fingerprint")
		}
		return nil
	}
	return c, nil
}

// Probe asks whether the camera is there, without logging in, and says how it
// was seen.
func (w *web) Probe(ctx context.Context) (source string, err error) {
	method := http.MethodHead
	switch w.opts.Probe {
	case probeTCP:
		conn, err := w.dial(ctx, "tcp", w.address)
		if err != nil {
			return "", w.explain(err)
		}
		return "tcp connection", conn.Close()
	case probeGet:
		method = http.MethodGet
	}
	res, err := w.ask(ctx, method, w.transport)
	if err != nil {
		return "", err
	}
	defer res.Body.Close() // a picture that comes with it is not read
	switch code := res.StatusCode; {
	case code == http.StatusNotFound || code == http.StatusGone:
		return "", fmt.Errorf("camera has no picture there (answer %d): check url", code)
	case code >= 500 && code != http.StatusNotImplemented:
		return "", fmt.Errorf("camera answers %d", code)
	}
	return answered(res.StatusCode), nil
}

// answered says how a camera has shown that it is there. Who only looks does not log in, so
// most ask for a password.
func answered(code int) string {
	switch {
	case code == http.StatusUnauthorized:
		return "answers and asks for its password (http 401)"
	case code >= 400:
		return fmt.Sprintf("answers, not with a picture (http %d)", code)
	}
	return fmt.Sprintf("answers (http %d)", code)
}

// Picture fetches a picture and checks that it is whole.
func (w *web) Picture(ctx context.Context) (JPEG, error) {
	data, err := w.fetch(ctx)
	if err != nil {
		return JPEG{}, err
	}
	return check(data)
}

// Close has nothing to give back: a connection ends with its request.
func (*web) Close() error { return nil }

// fetch gets what should be a picture.
func (w *web) fetch(ctx context.Context) ([]byte, error) {
	in, err := w.login()
	if err != nil {
		return nil, err
	}
	res, err := w.ask(ctx, http.MethodGet, in)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch code := res.StatusCode; code {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, errRefused
	case http.StatusNotFound:
		return nil, fmt.Errorf("camera has no picture there (answer %d): check url", code)
	default:
		return nil, fmt.Errorf("camera answers %d", code)
	}
	if res.ContentLength > w.opts.MaxBytes {
		return nil, w.tooBig()
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, w.opts.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("picture broke off after %d bytes: %w", len(data), err)
	}
	if int64(len(data)) > w.opts.MaxBytes {
		return nil, w.tooBig()
	}
	return data, nil
}

func (w *web) tooBig() error {
	return fmt.Errorf("%w: more than %d bytes (max_bytes)", errPicture, w.opts.MaxBytes)
}

func (w *web) ask(ctx context.Context, method string, way http.RoundTripper) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.opts.URL, nil)
	if err != nil {
		return nil, refuse("url", "is not an address")
	}
	req.Header.Set("Accept", "image/jpeg")
	req.Header.Set("User-Agent", "roomgate")
	client := http.Client{Transport: way, CheckRedirect: sameHost}
	res, err := client.Do(req)
	if err != nil {
		return nil, w.explain(err)
	}
	return res, nil
}

// sameHost lets a camera redirect within itself, and never out of https.
func sameHost(req *http.Request, via []*http.Request) error {
	from := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return errors.New("camera redirects in circles")
	case req.URL.Hostname() != from.Hostname() || req.URL.Scheme != from.Scheme && req.URL.Scheme != "https":
		return errElsewhere
	}
	return nil
}

// explain drops the URL from an error, as it may hold a password, and knows
// which errors are definite.
func (w *web) explain(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" && !op.Timeout() && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", drivers.ErrOffline, err)
	}
	return fmt.Errorf("ask camera at %s: %w", w.address, err)
}
