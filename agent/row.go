package agent

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// row is one line of the log. It is written for every change in the building,
// so it holds nothing that can be told from the rest: each byte of it wears
// the card.
type row struct {
	Type      string          `json:"t"`            // the envelope's type without "roomgate."
	Milli     int64           `json:"a"`            // when it became true, Unix time in ms
	Boot      string          `json:"b"`            // the run of the process it happened in
	Untrusted bool            `json:"u,omitempty"`  // the clock was not trusted then
	Space     string          `json:"m,omitempty"`  // meeting space id
	Device    string          `json:"d,omitempty"`  // device type
	Sub       string          `json:"sd,omitempty"` // sub-device
	Data      json.RawMessage `json:"p"`            // the envelope's data
}

// The levels of the log's rows, which are the levels of their topics.
const (
	levelEvent   = "event"
	levelReceipt = "receipt"
)

// eventType is the type of the row of an event of that kind.
func eventType(kind string) string { return levelEvent + "." + kind }

// row makes a line of the log that says data of a device.
func (a *Agent) row(kind string, at time.Time, space, device, sub string, data json.RawMessage) row {
	return row{Type: kind, Milli: at.UnixMilli(), Boot: a.boot, Untrusted: a.clock.Trust() != Trusted,
		Space: space, Device: device, Sub: sub, Data: data}
}

// level is the topic level that the row goes up on.
func (r row) level() string {
	level, _, _ := strings.Cut(r.Type, ".")
	return level
}

func (r row) time() time.Time { return time.UnixMilli(r.Milli).UTC() }

// id is the message's id: the same at each resend, and another one even if a
// restored backup gives the sequence a second time.
func (r row) id(seq uint64) string { return fmt.Sprintf("%s-%d", r.Boot, seq) }

// subject is what the row is about: space/device.
func (r row) subject() string {
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

func (r row) trust() Trust {
	if r.Untrusted {
		return Untrusted
	}
	return Trusted
}

// newBoot names a run of the process: 50 random bits.
func newBoot() string { return strings.ToLower(rand.Text()[:10]) }
