package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/cmd/roomgate/show"
)

// What a gateway tells of its work arrives whole and in order, and the answer
// after it is what it would be without.
func TestProgressOfAGateway(t *testing.T) {
	type share struct{ done, total int64 }
	want := []share{{0, 10}, {3, 10}, {3, 10}, {1 << 40, 1 << 41}, {10, 10}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out := &patient{w: w, control: http.NewResponseController(w)}
		tell := out.tell(0)
		for _, one := range want {
			tell(one.done, one.total)
		}
		for _, wrong := range []string{"", "3", "x/y", "-1/10", "11/10", "1/99999999999999999999"} {
			w.Header().Set(progressHeader, wrong)
			w.WriteHeader(http.StatusProcessing)
		}
		w.Header().Del(progressHeader)
		_, _ = io.WriteString(out, "the backup") // the client looks whether it came
	}))
	defer s.Close()
	var heard []share
	r, err := http.NewRequestWithContext(hearProgress(t.Context(), func(done, total int64) { heard = append(heard, share{done, total}) }), http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "the backup" || answer.StatusCode != http.StatusOK || answer.Header.Get(progressHeader) != "" {
		t.Errorf("%s %v: %q, %v", answer.Status, answer.Header, body, err)
	}
	if len(heard) != len(want) {
		t.Fatalf("heard %v", heard)
	}
	for i := range want {
		if heard[i] != want[i] {
			t.Errorf("heard %v, want %v", heard, want)
		}
	}
}

// saidLines passes on each line that progress says.
type saidLines chan string

func (l saidLines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// Who watches a backup of a running gateway sees how far its copy is before the
// first byte of it comes, through the control socket.
func TestBackupShowsHowFarTheGatewayIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), socketName)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	said, seen := make(saidLines), make(chan struct{})
	go func() {
		want := "\r\x1b[Kthe gateway copies its database: 25 % of 8.0 MB"
		for line := range said {
			if line == want {
				close(seen)
				break
			}
		}
		for range said { // until the command ends
		}
	}()
	defer close(said)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &patient{w: w, control: http.NewResponseController(w)}
		out.tell(0)(2<<20, 8<<20)
		select { // else the client would end before it looks
		case <-seen:
			_, _ = io.WriteString(out, "the backup") // the client looks whether it came
		case <-r.Context().Done():
		}
	}))
	s.Listener = l
	s.Start()
	defer s.Close()
	var got strings.Builder
	p := show.NewProgress(show.ProgressOptions{Out: said, Live: true, Every: time.Millisecond})
	if err := runningSource(t.Context(), path).write(t.Context(), &got, p); err != nil || got.String() != "the backup" {
		t.Errorf("%q, %v", got.String(), err)
	}
}
