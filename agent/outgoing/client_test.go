package outgoing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
)

// TestInsideIsOneSentence asks a neighbour on ports that are closed, speak TLS,
// answer, and say nonsense, and for names that lead nowhere: all the same.
func TestInsideIsOneSentence(t *testing.T) {
	_, plain := counter(t, "127.0.0.2", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	_, garbage := counter(t, "127.0.0.2", func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := http.NewResponseController(w).Hijack()
		_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n")
		_ = c.Close()
	})
	_, public := counter(t, "127.0.0.1", nil)
	gone := httptest.NewServer(nil)
	_, closed, _ := net.SplitHostPort(gone.Listener.Addr().String())
	gone.Close()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	encrypted := &httptest.Server{Listener: l, Config: &http.Server{}}
	encrypted.StartTLS()
	defer encrypted.Close()
	_, secure, _ := net.SplitHostPort(encrypted.Listener.Addr().String())

	private := Options{Policy: Policy{AllowPrivate: true}, MaxBody: 10}
	for _, c := range []struct {
		what, url string
		o         Options
		address   string
	}{
		{"closed", "http://printer.example:" + closed, private, "127.0.0.2"},
		{"no tls", "https://printer.example:" + plain, private, "127.0.0.2"},
		{"not trusted", "https://printer.example:" + secure, private, "127.0.0.2"},
		{"no http", "http://printer.example:" + garbage, private, "127.0.0.2"},
		{"refused here", "http://printer.example:" + plain, Options{}, "127.0.0.2"},
		{"refused here by range", "http://printer.example:" + plain, Options{}, "10.0.0.1"},
		{"no such name", "http://nobody.example:" + plain, private, "::1"},
	} {
		resp, err := open(t, c.o, c.address).Get(c.url)
		if err == nil {
			_ = resp.Body.Close()
		}
		var hidden *Hidden
		var whole *url.Error
		if !errors.As(err, &hidden) || !errors.As(err, &whole) {
			t.Fatalf("%s: %v", c.what, err)
		}
		goldentest.Values(t, c.what, goldentest.Pairs{"Error": {hidden.Error(), Unreachable},
			"Err.Error": {whole.Err.Error(), Unreachable}, "no Err": {hidden.Err == nil, false}})
	}

	resp, err := open(t, private, "127.0.0.2").Get("http://printer.example:" + plain)
	if err != nil || !Inside(resp) {
		t.Fatalf("a neighbour answered: %v", err)
	}
	_ = resp.Body.Close()
	_, err = open(t, private, "127.0.0.1").Get("http://hooks.example:" + closed)
	var hidden *Hidden
	if err == nil || errors.As(err, &hidden) {
		t.Errorf("in the internet a failure is told as it is: %v", err)
	}
	resp, err = open(t, private, "127.0.0.1").Get("http://hooks.example:" + public)
	if err != nil || Inside(resp) {
		t.Fatalf("the internet answered: %v", err)
	}
	_ = resp.Body.Close()
}

// TestOwnersTargetsAreToldAsTheyAre, wherever they are.
func TestOwnersTargetsAreToldAsTheyAre(t *testing.T) {
	_, port := counter(t, "127.0.0.1", nil)
	c := New(Options{Policy: Policy{Anywhere: true}, Timeout: time.Minute, MaxBody: 10})
	defer c.CloseIdleConnections()
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]"} {
		resp, err := c.Get("http://" + host + ":" + port)
		if err != nil || Inside(resp) {
			t.Fatalf("%s: %v", host, err)
		}
		_ = resp.Body.Close()
	}
	_, err := c.Get("http://127.0.0.1:1/")
	var hidden *Hidden
	if err == nil || errors.As(err, &hidden) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestNoProxyIsUsed(t *testing.T) {
	reached, port := counter(t, "127.0.0.1", nil)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"} {
		t.Setenv(name, "http://127.0.0.1:"+port)
	}
	for _, p := range []Policy{{}, {Anywhere: true}} {
		c := newClient(Options{Policy: p, MaxBody: 10}, newGuard(p), nameserver(t, "192.0.2.1"))
		if c.Transport.(*transport).Proxy != nil {
			t.Error("a proxy would dial for us")
		}
	}
	if reached.Load() > 0 {
		t.Error("the proxy was asked")
	}
}

func TestNoNetworkIsToldAsItIs(t *testing.T) {
	dead := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, fmt.Errorf("no line") }}
	_, err := newClient(Options{}, newGuard(Policy{}), dead).Get("https://hooks.example.com")
	var hidden *Hidden
	var dns *net.DNSError
	if !errors.As(err, &dns) || errors.As(err, &hidden) {
		t.Errorf("without DNS: %v", err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	_, port := counter(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 5000)) })
	for most, want := range map[int64]error{4999: ErrTooLarge, 5000: nil, 6000: nil} {
		resp, err := open(t, Options{MaxBody: most}, "127.0.0.1").Get("http://hooks.example:" + port)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !errors.Is(err, want) || int64(len(body)) != min(most, 5000) {
			t.Errorf("at most %d: %d bytes, %v", most, len(body), err)
		}
	}
}

func TestRedirects(t *testing.T) {
	visit := func(text string) *http.Request {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u, Header: http.Header{"Referer": {"https://a.example/secret"}}}
	}
	secure, plain := visit("https://a.example/"), visit("http://a.example/")
	for _, c := range []struct {
		most int
		to   string
		via  []*http.Request
		want error
	}{
		{0, "https://b.example/", []*http.Request{secure}, http.ErrUseLastResponse},
		{1, "https://b.example/", []*http.Request{secure}, nil},
		{1, "https://b.example/", []*http.Request{secure, secure}, ErrRedirect},
		{3, "http://b.example/", []*http.Request{secure}, ErrRedirect},
		{3, "http://b.example/", []*http.Request{plain, secure}, ErrRedirect},
		{3, "http://b.example/", []*http.Request{plain}, nil},
		{3, "file:///etc/passwd", []*http.Request{plain}, ErrRedirect},
		{3, "https://me:word@b.example/", []*http.Request{secure}, nil},
	} {
		r := visit(c.to)
		if err := Redirects(c.most)(r, c.via); !errors.Is(err, c.want) {
			t.Errorf("%s after %d: %v, want %v", c.to, len(c.via), err, c.want)
		} else if err == nil && (r.URL.User != nil || r.Header.Get("Referer") != "") {
			t.Errorf("%s goes on with %v", c.to, r)
		}
	}
}
