package journal

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"

	"roomgate/agent/printable"
)

// socket is where journald takes native messages
// (https://systemd.io/JOURNAL_NATIVE_PROTOCOL).
const socket = "/run/systemd/journal/socket"

const (
	// fieldPrefix is before the names of our fields, so that none is taken for
	// one of the journal's: device=aurora-lock is ROOMGATE_DEVICE.
	fieldPrefix = "ROOMGATE_"
	// maxField bounds a field, in bytes, so that a message fits a datagram.
	maxField = 8 << 10
	// maxFields bounds the fields of a message.
	maxFields = 20
)

// handler writes records to the journal, attributes as fields. Its
// MESSAGE has them too, for people who read it without -o verbose.
type handler struct {
	to     *sink
	fields []field // of With
	group  string  // "request_" inside of a group
}

type field struct{ name, value string }

// sink is the socket. When it does not take a message, as when journald
// starts again, the message goes to the standard error with its priority.
type sink struct {
	path   string
	stderr io.Writer

	mu   sync.Mutex
	conn net.Conn
}

func newHandler(path string, stderr io.Writer) *handler {
	return &handler{to: &sink{path: path, stderr: stderr}}
}

// Enabled leaves debugging out, as elsewhere.
func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// WithAttrs adds fields.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	n := *h
	n.fields = append([]field(nil), h.fields...)
	for _, a := range attrs {
		n.fields = appendFields(n.fields, h.group, a)
	}
	return &n
}

// WithGroup puts a name before those of the fields that follow.
func (h *handler) WithGroup(name string) slog.Handler {
	n := *h
	if name != "" {
		n.group += name + "_"
	}
	return &n
}

// Handle writes a record.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	fields := append([]field(nil), h.fields...)
	r.Attrs(func(a slog.Attr) bool {
		fields = appendFields(fields, h.group, a)
		return len(fields) < maxFields
	})
	line := strings.Builder{}
	line.WriteString(r.Message)
	for _, f := range fields {
		fmt.Fprintf(&line, " %s=%s", f.name, shown(f.value))
	}
	priority, text := priorityOf(r.Level), visible(line.String())
	return h.to.send(priority, text, encodeEntry(priority, text, fields))
}

// shown quotes a value that would not be one word.
func shown(v string) string {
	if v == "" || strings.ContainsAny(v, " \"=\n") {
		return strconv.Quote(v)
	}
	return v
}

// priorityOf is syslog's (syslog(3)).
func priorityOf(l slog.Level) int {
	switch {
	case l >= slog.LevelError:
		return 3
	case l >= slog.LevelWarn:
		return 4
	case l >= slog.LevelInfo:
		return 6
	}
	return 7
}

func appendFields(to []field, group string, a slog.Attr) []field {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "_"
		}
		for _, below := range v.Group() {
			to = appendFields(to, group, below)
		}
		return to
	}
	if a.Equal(slog.Attr{}) {
		return to
	}
	return append(to, field{group + a.Key, v.String()})
}

// encodeEntry is a message as journald takes it.
func encodeEntry(priority int, line string, fields []field) []byte {
	var b []byte
	b = appendEntry(b, "MESSAGE", line)
	b = appendEntry(b, "PRIORITY", strconv.Itoa(priority))
	b = appendEntry(b, "SYSLOG_IDENTIFIER", "roomgate")
	for _, f := range fields {
		b = appendEntry(b, fieldName(f.name), f.value)
	}
	return b
}

func appendEntry(b []byte, name, value string) []byte {
	value = visible(printable.Cut(value, maxField, ""))
	b = append(b, name...)
	if !strings.Contains(value, "\n") {
		return append(append(append(b, '='), value...), '\n')
	}
	b = append(b, '\n')
	b = binary.LittleEndian.AppendUint64(b, uint64(len(value)))
	return append(append(b, value...), '\n')
}

// visible writes the controls of C1 and the marks that turn the direction of a
// text around as \u009b: who reads the journal at a terminal meets neither.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if printable.Misleads(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fieldName is a name as the journal takes it: capitals, digits, underscores,
// at most 64.
func fieldName(name string) string {
	name = fieldPrefix + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 64)]
}

// send hands an entry over, over a new connection if the old one is dead.
func (s *sink) send(priority int, line string, entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 2 {
		if s.conn == nil {
			conn, err := net.Dial("unixgram", s.path)
			if err != nil {
				break
			}
			s.conn = conn
		}
		if _, err := s.conn.Write(entry); err == nil {
			return nil
		}
		_ = s.conn.Close()
		s.conn = nil
	}
	// What follows a line's end would be a message of its own.
	_, err := fmt.Fprintf(s.stderr, "<%d>%s\n", priority, strings.ReplaceAll(line, "\n", `\n`))
	return err
}
