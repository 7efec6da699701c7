package mail

import (
	"errors"
	"fmt"
	"net/textproto"
	"strings"
	"time"

	"roomgate/agent/printable"
)

// Stages of handing over a letter.
const (
	stageDial     = "connect"
	stageGreeting = "greeting"
	stageTLS      = "encrypt"
	stageAuth     = "sign in"
	stageFrom     = "sender"
	stageTo       = "recipient"
	stageData     = "text"
)

// Error is why a letter was not taken. It names neither the recipient nor
// anything of the text.
type Error struct {
	Stage     string
	Code      int  // the relay's answer (RFC 5321 section 4.2), 0 for none
	Permanent bool // this letter will never be taken
	Relay     bool // no letter would have been taken
	said      string
	cause     error
}

// Error says what happened.
func (e *Error) Error() string {
	text := "mail relay: " + e.Stage + ": "
	if e.Code > 0 {
		return strings.TrimSpace(fmt.Sprintf("%sit answered %d %s", text, e.Code, e.said))
	}
	return text + e.cause.Error()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.cause }

// maxSaid bounds what is repeated of a relay's answer.
const maxSaid = 120

// failed sorts an error of a stage.
func (l Letter) failed(stage string, err error) *Error {
	e := &Error{Stage: stage, cause: err, Relay: stage != stageTo && stage != stageData}
	var answer *textproto.Error
	if !errors.As(err, &answer) {
		e.Relay = true // the connection broke, or never was
		return e
	}
	e.Code = answer.Code
	e.Permanent = !e.Relay && answer.Code >= 500
	if stage == stageData {
		return e // a relay may repeat the text
	}
	e.said = oneLine(answer.Msg)
	if l.To != "" {
		e.said = replaceFold(e.said, l.To, "the recipient")
	}
	e.said = printable.Cut(e.said, maxSaid, "...")
	return e
}

// replaceFold replaces what is the same but for capital letters. Both are
// ASCII, or nothing is found.
func replaceFold(text, old, by string) string {
	at := strings.Index(strings.ToLower(text), strings.ToLower(old))
	if at < 0 || len(strings.ToLower(text)) != len(text) {
		return text
	}
	return text[:at] + by + replaceFold(text[at+len(old):], old, by)
}

// pauses are the times between two tries of a letter. The last one repeats.
var pauses = []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour}

// Backoff is how long to wait after so many failed tries, from 1. The spread,
// from 0 to 1, moves it by up to a fifth either way, so that many gateways do
// not come at once.
func Backoff(tries int, spread float64) time.Duration {
	pause := pauses[min(max(tries, 1), len(pauses))-1]
	return pause + time.Duration((2*spread-1)*float64(pause)/5)
}
