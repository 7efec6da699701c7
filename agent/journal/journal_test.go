package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"roomgate/drivers"
)

// journald is the socket of one.
func journald(t *testing.T) (*net.UnixConn, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "socket")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, path
}

// entry reads a message as journald does.
func entry(t *testing.T, conn *net.UnixConn) map[string]string {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	raw := make([]byte, 64<<10)
	n, err := conn.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{}
	for raw = raw[:n]; len(raw) > 0; {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		if name, value, simple := strings.Cut(string(line), "="); simple {
			fields[name], raw = value, rest
			continue
		}
		size := binary.LittleEndian.Uint64(rest)
		fields[string(line)], raw = string(rest[8:8+size]), rest[8+size+1:]
	}
	return fields
}

func TestJournal(t *testing.T) {
	conn, path := journald(t)
	var stderr bytes.Buffer
	log := slog.New(newHandler(path, &stderr)).With("driver", "lock-relay")
	log.WithGroup("request").Warn("device is offline", "device-id", "aurora lock", "error", errors.New("first\nPRIORITY=0"),
		"password", drivers.Secret("hunter2"), slog.Group("bus", "line", 17))
	got := entry(t, conn)
	want := map[string]string{
		"MESSAGE":                    `device is offline driver=lock-relay request_device-id="aurora lock" request_error="first\nPRIORITY=0" request_password=*** request_bus_line=17`,
		"PRIORITY":                   "4",
		"SYSLOG_IDENTIFIER":          "roomgate",
		"ROOMGATE_DRIVER":            "lock-relay",
		"ROOMGATE_REQUEST_DEVICE_ID": "aurora lock",
		"ROOMGATE_REQUEST_ERROR":     "first\nPRIORITY=0",
		"ROOMGATE_REQUEST_PASSWORD":  "***",
		"ROOMGATE_REQUEST_BUS_LINE":  "17",
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("fields %v", got)
	}
	log.Debug("not said")
	log.Error(strings.Repeat("long ", 10_000))
	if got := entry(t, conn); got["PRIORITY"] != "3" || len(got["MESSAGE"]) != maxField {
		t.Errorf("priority %s, %d bytes", got["PRIORITY"], len(got["MESSAGE"]))
	}
	if stderr.Len() > 0 {
		t.Errorf("the standard error has %q", &stderr)
	}

	// Without journald nothing is lost, and no line pretends to be another.
	_ = conn.Close()
	log.Info("still here", "text", "a\n<0>b")
	if got := stderr.String(); got != "<6>still here driver=lock-relay text=\"a\\n<0>b\"\n" {
		t.Errorf("the standard error has %q", got)
	}
}

// A line that comes again and again is written three times a minute and then
// counted, while others are written.
func TestSameLinesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out shared
		log := slog.New(limited(slog.NewTextHandler(&out, nil)))
		lock := log.With("device", "lock")
		for range 600 {
			lock.Warn("offline", "why", "timeout")
			time.Sleep(50 * time.Millisecond)
		}
		log.Info("something else")
		lock.Warn("offline", "why", "refused")
		log.With("device", "fan").Warn("offline", "why", "timeout")
		if n := strings.Count(out.String(), "why=timeout"); n != 4 {
			t.Errorf("%d lines, want 3 and another device's:\n%s", n, &out)
		}
		for _, want := range []string{"something else", "why=refused", "device=fan"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is hidden", want)
			}
		}
		time.Sleep(limitWindow)
		synctest.Wait()
		if !strings.Contains(out.String(), "device=lock why=timeout repeated=597 within=1m0s") {
			t.Errorf("no sum:\n%s", &out)
		}
		out.Reset()
		lock.Warn("offline", "why", "timeout")
		if !strings.Contains(out.String(), "offline") {
			t.Error("the next minute begins silent")
		}
	})
}

// Lines that differ a little each time are counted too, and the memory that it
// takes is bounded.
func TestSimilarLinesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out shared
		h := limited(slog.NewTextHandler(&out, nil))
		log := slog.New(h)
		for i := range 5000 {
			log.Warn("offline", "port", i)
		}
		if n := strings.Count(out.String(), "\n"); n != similarLines {
			t.Errorf("%d lines, want %d", n, similarLines)
		}
		if n := len(h.lines.counts); n > maxLines+1 {
			t.Errorf("%d lines are counted", n)
		}
		out.Reset()
		Flush(log)
		if !strings.Contains(out.String(), "repeated=4940") {
			t.Errorf("at the end: %s", &out)
		}
		time.Sleep(2 * limitWindow)
		synctest.Wait()
		if n := len(h.lines.counts); n != 0 {
			t.Errorf("%d lines are never forgotten", n)
		}
	})
}

// shared is a buffer that a test reads while timers write to it.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *shared) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Reset()
}

// A log is for people where people read, and JSON where another machine does.
func TestOpen(t *testing.T) {
	t.Setenv("JOURNAL_STREAM", "") // as where the tests are no service
	for people, want := range map[bool]string{true: `level=WARN msg=offline device="a lock"`, false: `"level":"WARN","msg":"offline","device":"a lock"`} {
		var out shared
		log := New(Options{Stderr: &out, People: people})
		log.Warn("offline", "device", "a lock")
		if !strings.Contains(out.String(), want) {
			t.Errorf("for people %v: %s", people, &out)
		}
		Flush(log)
	}
	Flush(slog.New(slog.DiscardHandler)) // is not of Open
}

// TestFieldsAreCutBetweenCharacters: journald takes a field as text only if it
// is UTF-8.
func TestFieldsAreCutBetweenCharacters(t *testing.T) {
	for shift := range 4 {
		_, value, _ := bytes.Cut(appendEntry(nil, "A", strings.Repeat("x", shift)+strings.Repeat("€", maxField)), []byte("="))
		if value = bytes.TrimSuffix(value, []byte("\n")); !utf8.Valid(value) || len(value) > maxField || len(value) < maxField-2 {
			t.Errorf("after %d: %d bytes end in %q", shift, len(value), value[len(value)-4:])
		}
	}
}

// TestLogHasNoMarks writes what would steer a terminal, or turn a text around, by
// every way out.
func TestLogHasNoMarks(t *testing.T) {
	const name = "a\u009b31m\u202eb\u2066c\u061cd"
	conn, path := journald(t)
	var stderr, plain, coded bytes.Buffer
	logs := map[string]*slog.Logger{
		"journal": slog.New(newHandler(path, &stderr)),
		"text":    New(Options{Stderr: &plain, People: true}), "json": New(Options{Stderr: &coded}),
	}
	for _, log := range logs {
		log.Warn("message "+name, "name", name, "error", errors.New(name), slog.Group("bus", "device", name))
		Flush(log)
	}
	got := entry(t, conn)
	for field, value := range got {
		if strings.ContainsAny(value, "\u009b\u202e\u2066\u061c") {
			t.Errorf("the journal's %s is %q", field, value)
		}
	}
	if got["ROOMGATE_NAME"] != `a\u009b31m\u202eb\u2066c\u061cd` {
		t.Errorf("the name is %q", got["ROOMGATE_NAME"])
	}
	_ = conn.Close()
	logs["journal"].Warn(name) // to the standard error
	for what, out := range map[string]*bytes.Buffer{"standard error": &stderr, "text": &plain, "json": &coded} {
		if out.Len() == 0 || strings.ContainsAny(out.String(), "\u009b\u202e\u2066\u061c") {
			t.Errorf("%s has %q", what, out)
		}
	}
}
