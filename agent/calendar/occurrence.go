package calendar

import (
	"strings"
	"time"
)

// Person is who arranged a meeting. Either field may be empty.
type Person struct {
	Name  string
	Email string
}

// Occurrence is one use of the room that a calendar names.
type Occurrence struct {
	UID        string    // of the event; with Recurrence it identifies the occurrence
	Recurrence time.Time // original start of this occurrence in UTC; zero: not recurring
	Start, End time.Time // UTC, half-open
	Title      string    // at most 1024 bytes
	Private    bool      // CLASS:PRIVATE or CONFIDENTIAL
	Organizer  Person
	AllDay     bool
	Sequence   int // revision of the event, never negative
}

// ExternalID names the occurrence and stays the same when it is moved: the
// UID, and the original start if the event recurs.
func (o Occurrence) ExternalID() string {
	if o.Recurrence.IsZero() {
		return o.UID
	}
	return o.UID + "/" + o.Recurrence.UTC().Format(utcFormat)
}

// UIDOf is the UID in an ExternalID.
func UIDOf(external string) string {
	if i := strings.LastIndexByte(external, '/'); i >= 0 {
		if _, err := time.Parse(utcFormat, external[i+1:]); err == nil {
			return external[:i]
		}
	}
	return external
}
