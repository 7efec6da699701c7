package webhook

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiver is a real one with TLS, and a sender that trusts it.
func receiver(t *testing.T, h http.HandlerFunc) (*httptest.Server, *Sender) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	return s, NewSender(s.Client())
}

func TestSendIsVerifiedByTheReceiver(t *testing.T) {
	secrets := []Secret{NewSecret(), NewSecret()}
	var bad []string
	s, sender := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for _, secret := range secrets {
			lib, err := standard.NewWebhook(string(secret))
			if err == nil {
				err = lib.Verify(body, r.Header)
			}
			if err != nil {
				bad = append(bad, err.Error())
			}
		}
		if r.Method != "POST" || r.Header.Get("Content-Type") != "application/json" || string(body) != `{"a":1}` || len(r.Header.Get(HeaderSignature)) != 64 {
			bad = append(bad, fmt.Sprint(r.Method, r.Header, string(body)))
		}
		w.WriteHeader(http.StatusAccepted)
	})
	a := sender.Send(t.Context(), s.URL+"/in?x=y", "0000000001-abc", []byte(`{"a":1}`), secrets)
	if !a.Success() || a.Status != 202 || a.Error != "" || len(bad) > 0 {
		t.Errorf("answered %+v, and the receiver found %v", a, bad)
	}
}

func TestAnswers(t *testing.T) {
	var followed atomic.Int32
	answer := func(status int, retry string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				followed.Add(1)
			}
			w.Header().Set("Location", "/elsewhere")
			w.Header().Set("Retry-After", retry)
			w.WriteHeader(status)
		}
	}
	for _, c := range []struct {
		status        int
		retry         string
		success, gone bool
		wait          time.Duration
	}{
		{200, "60", true, false, 0}, {204, "", true, false, 0}, {301, "60", false, false, 0}, {302, "", false, false, 0},
		{307, "", false, false, 0}, {308, "", false, false, 0}, {400, "60", false, false, 0}, {401, "", false, false, 0},
		{410, "60", false, true, 0}, {429, "60", false, false, time.Minute}, {429, "1e9", false, false, 0},
		{503, "9999999", false, false, 24 * time.Hour}, {500, "60", false, false, 0},
	} {
		s, sender := receiver(t, answer(c.status, c.retry))
		a := sender.Send(t.Context(), s.URL, "id", nil, []Secret{"a secret"})
		if a.Status != c.status || a.Success() != c.success || a.Gone() != c.gone || a.RetryAfter != c.wait || (a.Error == "") != c.success || a.Offline {
			t.Errorf("%d with Retry-After %q: %+v", c.status, c.retry, a)
		}
	}
	if followed.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// TestGigabyteIsBounded answers 200 and then as much as anybody reads.
func TestGigabyteIsBounded(t *testing.T) {
	var sent atomic.Int64
	done := make(chan struct{})
	s, sender := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		chunk := make([]byte, 64<<10)
		for range 1 << 30 / len(chunk) {
			n, err := w.Write(chunk)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := sender.Send(t.Context(), s.URL, "id", nil, []Secret{"a secret"})
	<-done
	runtime.ReadMemStats(&after)
	if !a.Success() || sent.Load() > 64<<20 {
		t.Errorf("%+v after %d bytes, want success after what the sockets hold", a, sent.Load())
	}
	t.Logf("the receiver got rid of %d KiB of a gigabyte, %d KiB were allocated by both", sent.Load()>>10, (after.TotalAlloc-before.TotalAlloc)>>10)
}

// TestHangs lets a receiver hang in virtual time: the wire is a pipe.
func TestHangs(t *testing.T) {
	for what, said := range map[string]string{"without an answer": "", "in the head": "HTTP/1.1 200 OK\r\nX-A", "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1"} {
		synctest.Test(t, func(t *testing.T) {
			dial := func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				go func() { // a receiver that reads, says its piece and hangs until the line is cut
					defer func() { _ = far.Close() }()
					_, _ = http.ReadRequest(bufio.NewReader(far))
					_, _ = far.Write([]byte(said))
					_, _ = io.Copy(io.Discard, far)
				}()
				return near, nil
			}
			client := &http.Client{Transport: &http.Transport{DialContext: dial}}
			start := time.Now()
			a := NewSender(client).Send(t.Context(), "http://hooks.example.com/", "id", []byte("{}"), []Secret{"a secret"})
			if a.Success() != (what == "in the body") || time.Since(start) != Timeout || !a.Success() && !strings.Contains(a.Error, "within 10s") {
				t.Errorf("hanging %s: %+v after %v", what, a, time.Since(start))
			}
			client.CloseIdleConnections()
			synctest.Wait()
		})
	}
}

func TestFailuresAreWorded(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	strange, _ := receiver(t, func(http.ResponseWriter, *http.Request) {})
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := http.NewResponseController(w).Hijack()
		_ = c.Close()
	}))
	defer broken.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, c := range []struct{ url, want string }{
		{closed.URL, "refuses connections"},
		{strings.Replace(plain.URL, "http:", "https:", 1), "connection to the receiver failed"},
		{strange.URL, "certificate is not trusted"},
		{broken.URL, "connection to the receiver failed"},
		{"https://%", "cannot be read"},
	} {
		a := NewSender(client).Send(t.Context(), c.url, "id", nil, []Secret{"a secret"})
		if !strings.Contains(a.Error, c.want) || a.Offline || a.Success() {
			t.Errorf("%s: %+v, want %q", c.url, a, c.want)
		}
	}
}

// nameserver answers every question for an IPv4 address with the next of a
// list, and says that there are none for IPv6.
func nameserver(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		b, i := make([]byte, 512), 0
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			end := 12 + strings.IndexByte(string(b[12:n]), 0) + 5
			reply := append([]byte{b[0], b[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, b[12:end]...)
			if b[end-3] == 1 { // A
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				reply = append(reply, netip.MustParseAddr(answers[min(i, len(answers)-1)]).AsSlice()...)
				i++
			}
			_, _ = conn.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestRebindingNameIsRefused gives a name an address that may be reached, and
// then one that may not: what counts is the address that is dialled.
func TestRebindingNameIsRefused(t *testing.T) {
	var reached atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	url := "http://rebind.example.com:" + port
	for _, c := range []struct {
		answers []string
		policy  Policy
		private bool
	}{
		{[]string{"127.0.0.1"}, Policy{}, false},
		{[]string{"127.0.0.1"}, Policy{AllowPrivate: true, AllowHTTP: true}, false},
		{[]string{"169.254.169.254"}, Policy{AllowPrivate: true}, false},
		{[]string{"0.0.0.0"}, Policy{AllowPrivate: true}, false},
		{[]string{"10.0.0.1"}, Policy{}, true},
	} {
		client := newClient(c.policy, nil, nameserver(t, c.answers...))
		a := NewSender(client).Send(t.Context(), url, "id", nil, []Secret{"a secret"})
		if !strings.Contains(a.Error, c.answers[0]) || strings.Contains(a.Error, "allow_private") != c.private || a.Offline {
			t.Errorf("%v with %+v: %+v", c.answers, c.policy, a)
		}
	}
	if reached.Load() != 0 {
		t.Fatalf("loopback was reached %d times", reached.Load())
	}

	good := netip.MustParsePrefix("127.0.0.1/32") // stands for a good address here
	client := newClient(Policy{}, []netip.Prefix{good}, nameserver(t, "127.0.0.1", "127.0.0.2"))
	sender := NewSender(client)
	if a := sender.Send(t.Context(), url, "id", nil, []Secret{"a secret"}); !a.Success() || reached.Load() != 1 {
		t.Fatalf("the good address: %+v", a)
	}
	client.CloseIdleConnections()
	if a := sender.Send(t.Context(), url, "id", nil, []Secret{"a secret"}); a.Success() || !strings.Contains(a.Error, "127.0.0.2") || reached.Load() != 1 {
		t.Errorf("the address after it: %+v", a)
	}
}

func TestNamesThatLeadNowhere(t *testing.T) {
	dead := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, fmt.Errorf("no line") }}
	a := NewSender(newClient(Policy{}, nil, dead)).Send(t.Context(), "https://hooks.example.com", "id", nil, []Secret{"a secret"})
	if !a.Offline || a.Success() {
		t.Errorf("without DNS: %+v, want to be offline", a)
	}
}

// TestGuardJudgesTheAddress has what a resolver may answer, mapped forms too.
func TestGuardJudgesTheAddress(t *testing.T) {
	for address, ok := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1::1]:443": true, "93.184.216.34:8443": true,
		"127.0.0.1:443": false, "[::1]:443": false, "[::ffff:127.0.0.1]:443": false, "[::ffff:93.184.216.34]:443": false,
		"169.254.169.254:80": false, "[fe80::1%eth0]:443": false, "[64:ff9b::169.254.169.254]:80": false, "[64:ff9b:1::1]:80": false,
		"0.0.0.0:80": false, "[::]:80": false, "100.64.0.1:443": false, "nonsense": false,
	} {
		err := newGuard(Policy{AllowPrivate: true}, nil).control(t.Context(), "tcp4", address, nil)
		if (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if newGuard(Policy{}, nil).control(t.Context(), "udp4", "93.184.216.34:443", nil) == nil {
		t.Error("not TCP, and let through")
	}
}
