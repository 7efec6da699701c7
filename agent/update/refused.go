package update

import (
	"fmt"
	"strings"
	"time"
)

// Cause is the kind of reason for which a bundle is not taken. There are few, and
// they stay: figures are counted by them.
type Cause string

// The causes.
const (
	NoKeys       Cause = "no_keys"       // this gateway knows no key at all
	WrongKey     Cause = "wrong_key"     // signed by nobody known
	NoBundle     Cause = "no_bundle"     // not what roomgate update bundle makes
	Corrupt      Cause = "damaged"       // it was one
	OtherMachine Cause = "other_machine" // another architecture or system
	OldSchema    Cause = "old_schema"    // could not read the database in use
	Old          Cause = "old"           // not newer than what runs or has run
	GivenUp      Cause = "given_up"      // was tried already
	Unfit        Cause = "unfit"         // does not start here, or not with this configuration
	NotThere     Cause = "not_there"     // the one who was to have it says that it does not
	Busy         Cause = "busy"          // later
	DiskFull     Cause = "disk_full"     // once there is room
)

// Refused is why a bundle is not taken. Nothing was changed.
type Refused struct {
	Cause  Cause
	Reason string // what is wrong, and what to do
}

func (e *Refused) Error() string { return e.Reason }

// passes says whether the same bundle may be taken later.
func (e *Refused) passes() bool { return e.Cause == Busy || e.Cause == DiskFull }

func refuse(cause Cause, format string, args ...any) error {
	return &Refused{cause, fmt.Sprintf(format, args...)}
}

// Refusal is the last bundle that was not taken.
type Refusal struct {
	Cause  Cause     `json:"cause"`
	Reason string    `json:"reason"`
	URL    string    `json:"url,omitempty"` // where the cloud wanted it from, without a query; empty: somebody brought it
	At     time.Time `json:"at"`            // by a clock that may have been wrong
}

// NoteRefusal keeps why a bundle was not taken, for those who were not there. One
// that came at a bad moment is not kept.
func (r *Releases) NoteRefusal(refused *Refused, url string) error {
	if refused.Cause == Busy {
		return nil
	}
	return r.change(func(s *State) error {
		s.refuse(refused, url)
		return nil
	})
}

// refuse keeps a refusal, and tells it unless it is of a bundle that is tried
// again and again.
func (s *State) refuse(refused *Refused, url string) {
	url = place(url)
	one := Refusal{refused.Cause, refused.Reason, url, time.Now().UTC().Truncate(time.Second)}
	if last := s.Refused; url == "" || last == nil || last.URL != url || last.Cause != one.Cause {
		s.tell(News{Event: NotTaken, Cause: one.Cause, Reason: one.Reason, URL: url})
	}
	s.Refused = &one
}

// place is an address without its query, which may be the right to read there.
func place(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}
