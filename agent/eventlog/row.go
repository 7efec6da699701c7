package eventlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"roomgate/agent/clock"
)

// Row is one line of the log. It is written for every change in the building,
// so it holds nothing that can be told from the rest: each byte of it wears
// the card.
type Row struct {
	Type      string          `json:"t"`            // the envelope's type without "roomgate."
	Milli     int64           `json:"a"`            // when it became true, Unix time in ms
	Boot      string          `json:"b"`            // the run of the process it happened in
	Untrusted bool            `json:"u,omitempty"`  // the clock was not trusted then
	Space     string          `json:"m,omitempty"`  // meeting space id
	Device    string          `json:"d,omitempty"`  // device type
	Sub       string          `json:"sd,omitempty"` // sub-device
	Sum       []byte          `json:"h,omitempty"`  // of the chain; none: an earlier version has written it
	Data      json.RawMessage `json:"p"`            // the envelope's data
}

// The levels of the log's rows, which are the levels of their topics.
const (
	LevelEvent   = "event"
	LevelReceipt = "receipt"
	LevelBooking = "booking"
	LevelMessage = "message"
)

// EventType is the type of the row of an event of that kind.
func EventType(kind string) string { return LevelEvent + "." + kind }

// Level is the topic level that the row goes up on.
func (r Row) Level() string {
	level, _, _ := strings.Cut(r.Type, ".")
	return level
}

// Time is when it became true.
func (r Row) Time() time.Time { return time.UnixMilli(r.Milli).UTC() }

// ID is the message's id: the same at each resend, and another one even if a
// restored backup gives the sequence a second time.
func (r Row) ID(seq uint64) string { return fmt.Sprintf("%s-%d", r.Boot, seq) }

// Subject is what the row is about: space/device.
func (r Row) Subject() string {
	switch {
	case r.Space == "":
		return ""
	case r.Device == "":
		return r.Space
	case r.Sub != "":
		return r.Space + "/" + r.Sub
	}
	return r.Space + "/" + r.Device
}

// Trust is what the clock was worth then.
func (r Row) Trust() clock.Trust {
	if r.Untrusted {
		return clock.Untrusted
	}
	return clock.Trusted
}

// Kind is what happened, of the row of an event; else empty.
func (r Row) Kind() string {
	kind, ok := strings.CutPrefix(r.Type, LevelEvent+".")
	if !ok {
		return ""
	}
	return kind
}

// SpaceDevice is what an event of a meeting space, and of no device in it, names
// as its device.
const SpaceDevice = "meeting-space"

// GatewayDevice is what an event of the gateway itself, and of no meeting space, names
// as its device.
const GatewayDevice = "gateway"

// TimeLayout is how the platform writes times, in UTC.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Stamp writes a time as the platform does.
func Stamp(t time.Time) string { return string(AppendStamp(make([]byte, 0, len(TimeLayout)), t)) }

// AppendStamp appends what Stamp writes. Each answer and each event has some of them, and a layout
// that time.Format has to read takes three times as long.
func AppendStamp(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, TimeLayout)
	}
	hour, minute, second := t.Clock()
	ms := t.Nanosecond() / int(time.Millisecond)
	b = append(digits(digits(b, year/100), year%100), '-')
	b = append(digits(b, int(month)), '-')
	b = append(digits(b, day), 'T')
	b = append(digits(b, hour), ':')
	b = append(digits(b, minute), ':')
	b = append(digits(b, second), '.', byte('0'+ms/100))
	return append(digits(b, ms%100), 'Z')
}

// digits appends a number below 100 with two digits.
func digits(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// StampOrNil is Stamp, and nil for the zero time.
func StampOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := Stamp(t)
	return &text
}

// Storable says whether a time can be written as RFC 3339 does: it is zero, or
// has a year from 1970 to 9999.
func Storable(t time.Time) bool {
	year := t.UTC().Year()
	return t.IsZero() || year >= 1970 && year <= 9999
}

// Record is what the platform's record of an event is made of:
// {"eventType", "timestamp", "details"}.
type Record struct {
	Type                    string
	Time                    time.Time // written in UTC with milliseconds
	Space, Device, DeviceID string    // go into the details
	Details                 map[string]any
}
