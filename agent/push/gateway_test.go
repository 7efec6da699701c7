package push

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/push/pushtest"
)

const secret = "tk_the-token-of-the-building"

// start is a real server on the loopback, and a gateway that leads to it.
func start(t *testing.T, s *pushtest.Server, token string) *Gateway {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return New(server.URL+"/", func() (string, error) { return token, nil }, NewClient(nil))
}

func TestNoteIsPublished(t *testing.T) {
	s := &pushtest.Server{Token: secret}
	g := start(t, s, secret)
	defer g.Close()
	n := Note{ID: "01M80KKFFGY1H2WZYY555PMJ6W", Topic: "rooms-ada", Title: "Aurora: frei", Body: "Grüße \"an\"\nalle", Priority: 4}
	if a := g.Send(t.Context(), n); a.Kind != Taken || a.Status != 200 || a.Error != "" {
		t.Fatalf("%+v", a)
	}
	got := s.Taken()
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	goldentest.Values(t, "pushed", goldentest.Pairs{"Topic": {got[0].Topic, n.Topic}, "Title": {got[0].Title, n.Title},
		"Message": {got[0].Message, n.Body}, "Priority": {got[0].Priority, 4}, "Sequence": {got[0].Sequence, n.ID}})
	if a := g.Look(t.Context()); a.Kind != Taken {
		t.Errorf("its health: %+v", a)
	}
}

func TestAnswersAreJudged(t *testing.T) {
	for status, want := range map[int]Kind{200: Taken, 201: Taken, 302: Later, 400: Never, 401: Later, 403: Never, 404: Later, 408: Later,
		413: Never, 429: Later, 500: Again, 502: Again, 503: Later, 507: Again} {
		s := &pushtest.Server{}
		s.Script(func(string) *pushtest.Fault { return &pushtest.Fault{Status: status, RetryAfter: "7"} })
		a := start(t, s, "").Send(t.Context(), Note{Topic: "a", Body: "b"})
		if a.Kind != want || a.Status != status || (a.Error == "") != (want == Taken) {
			t.Errorf("%d: %+v, want kind %d", status, a, want)
		}
		if status == 429 && a.RetryAfter != 7*time.Second {
			t.Errorf("429: %v", a.RetryAfter)
		}
	}
}

// Nothing that is shown or logged holds the token, and a redirect does not take
// it elsewhere.
func TestTokenIsKept(t *testing.T) {
	s := &pushtest.Server{Token: "another"}
	if a := start(t, s, secret).Send(t.Context(), Note{Topic: "a", Body: "b"}); a.Status != 401 || strings.Contains(a.Error, secret) {
		t.Errorf("%+v", a)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	here := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer here.Close()
	g := New(here.URL, func() (string, error) { return secret, nil }, http.DefaultClient)
	if a := g.Send(t.Context(), Note{Topic: "a", Body: "b"}); a.Kind != Later || a.Status != 307 {
		t.Errorf("%+v", a)
	}
	g = New(here.URL, func() (string, error) { return "", errors.New("no file " + secret) }, http.DefaultClient)
	if a := g.Send(t.Context(), Note{Topic: "a", Body: "b"}); a.Kind != Later || strings.Contains(a.Error, secret) {
		t.Errorf("without a token: %+v", a)
	}
}

func TestWhatIsSaidIsBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"\u001b[2J` + strings.Repeat("ä", 1000) + `"}`))
	}))
	defer server.Close()
	a := New(server.URL, func() (string, error) { return "", nil }, http.DefaultClient).Send(t.Context(), Note{Topic: "a", Body: "b"})
	if a.Kind != Never || len(a.Error) > 2*maxSaid+40 || strings.ContainsRune(a.Error, '\x1b') {
		t.Errorf("%+v", a)
	}
}

func TestNobodyAnswers(t *testing.T) {
	server := httptest.NewServer(nil)
	url := server.URL
	server.Close()
	g := New(url, func() (string, error) { return "", nil }, NewClient(nil))
	if a := g.Send(t.Context(), Note{Topic: "a", Body: "b"}); a.Kind != Later || a.Error != "it refuses connections" {
		t.Errorf("%+v", a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := g.Send(ctx, Note{Topic: "a", Body: "b"}); a.Kind != Later {
		t.Errorf("%+v", a)
	}
}

func TestBackoff(t *testing.T) {
	for tries, want := range map[int]time.Duration{0: time.Second, 1: time.Second, 2: 3 * time.Second, 7: 5 * time.Minute, 100: 5 * time.Minute} {
		if got := Backoff(tries, Answer{}, 0); got != want {
			t.Errorf("%d: %v, want %v", tries, got, want)
		}
		if got := Backoff(tries, Answer{}, 1); got != want*5/4 {
			t.Errorf("%d with all of the spread: %v", tries, got)
		}
	}
	if got := Backoff(1, Answer{RetryAfter: time.Hour}, 0); got != time.Hour {
		t.Errorf("Retry-After: %v", got)
	}
}
