package webhook

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/outgoing"

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
		goldentest.Values(t, fmt.Sprintf("%d with Retry-After %q", c.status, c.retry), goldentest.Pairs{"Status": {a.Status, c.status}, "Success": {a.Success(), c.success},
			"Gone": {a.Gone(), c.gone}, "RetryAfter": {a.RetryAfter, c.wait}, "no Error": {a.Error == "", c.success},
			"Offline": {a.Offline, false}})
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

// scripted is a network that answers as it is told.
type scripted func(*http.Request) (*http.Response, error)

func (s scripted) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// TestHiddenFailuresAreAllAlike: what a receiver in another network does is for
// the gateway's log; whoever registered it reads one sentence.
func TestHiddenFailuresAreAllAlike(t *testing.T) {
	for _, cause := range []error{
		&net.DNSError{Err: "no such host", Name: "printer.internal", IsNotFound: true},
		&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED},
		context.DeadlineExceeded,
		x509.UnknownAuthorityError{},
		&outgoing.AddressError{Address: netip.MustParseAddr("10.1.2.3"), Private: true},
		errors.New("malformed HTTP response"),
	} {
		s := NewSender(&http.Client{Transport: scripted(func(*http.Request) (*http.Response, error) { return nil, &outgoing.Hidden{Err: cause} })})
		a := s.Send(t.Context(), "https://printer.internal/secret-path", "id", nil, []Secret{"a secret"})
		if a.Error != unreachable || a.Detail != cause.Error() || a.Offline || a.Success() {
			t.Errorf("%v: %+v", cause, a)
		}
		d := NewDelivery("d", "w", BookingCreated, nil, noon).After(a, noon)
		if got := d.Attempts[0]; got.Status != 0 || got.TookMS != 0 || got.Error != unreachable {
			t.Errorf("%v: the attempt tells %+v", cause, got)
		}
	}
}
