package calendar

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is one use of the room in the feed that Write makes.
type Entry struct {
	UID        string // required; the same as long as the booking lives
	Sequence   int64  // revision, grows with every change; 0 to 2147483647 (RFC 5545, 3.3.8)
	Start, End time.Time
	Title      string
	Status     string    // CONFIRMED or CANCELLED
	Updated    time.Time // last change; zero: Start
	Organizer  Person    // empty: not shown
}

const utcFormat = "20060102T150405Z"

// Write writes one room's calendar as a feed that phones subscribe to (RFC
// 5545, METHOD:PUBLISH). The same entries give the same bytes, so that a hash
// serves as ETag: DTSTAMP is the last change, not the time of writing. Times
// are in UTC, to the second. Text loses control characters, and a name its
// backslashes, which parameters cannot hold. The error names the entry and
// field that cannot be written, or is the writer's.
func Write(w io.Writer, name string, entries []Entry) error {
	for i, e := range entries {
		if err := e.Check(); err != nil {
			return fmt.Errorf("entry %d (%s): %w", i, quote(e.UID), err)
		}
	}
	out := bufio.NewWriter(w)
	line := func(s string) { fold(out, s) }
	line("BEGIN:VCALENDAR")
	line("VERSION:2.0")
	line("PRODID:-//Roomgate//Room calendar//EN")
	line("CALSCALE:GREGORIAN")
	line("METHOD:PUBLISH")
	line("X-WR-CALNAME:" + text(name))
	line("NAME:" + text(name)) // RFC 7986, 5.1
	line("REFRESH-INTERVAL;VALUE=DURATION:PT5M")
	line("X-PUBLISHED-TTL:PT5M")
	for _, e := range entries {
		e.write(line)
	}
	line("END:VCALENDAR")
	return out.Flush()
}

// Check names the field that Write cannot write.
func (e *Entry) Check() error {
	switch {
	case e.UID == "" || title(strings.TrimSpace(e.UID)) != e.UID || strings.Contains(e.UID, "\n"):
		return fmt.Errorf("uid: it is missing, longer than %d bytes, or holds what is not text", maxTitle)
	case !e.End.Truncate(time.Second).After(e.Start.Truncate(time.Second)):
		return fmt.Errorf("end: it is not after the start")
	case e.Start.UTC().Year() < 1 || e.End.UTC().Year() > 9999:
		return fmt.Errorf("start: only the years 1 to 9999 can be written")
	case e.Status != "CONFIRMED" && e.Status != "CANCELLED":
		return fmt.Errorf("status: %s is not CONFIRMED or CANCELLED", quote(e.Status))
	case e.Sequence < 0 || e.Sequence > math.MaxInt32:
		return fmt.Errorf("sequence: it is not from 0 to 2147483647")
	}
	return nil
}

func (e *Entry) write(line func(string)) {
	updated := e.Updated
	if updated.IsZero() {
		updated = e.Start
	}
	stamp := updated.UTC().Format(utcFormat)
	line("BEGIN:VEVENT")
	line("UID:" + text(e.UID))
	line("DTSTAMP:" + stamp)
	line("LAST-MODIFIED:" + stamp)
	line("DTSTART:" + e.Start.UTC().Format(utcFormat))
	line("DTEND:" + e.End.UTC().Format(utcFormat))
	line("SEQUENCE:" + strconv.FormatInt(e.Sequence, 10))
	line("STATUS:" + e.Status)
	line("SUMMARY:" + text(e.Title))
	if who := e.organizer(); who != "" {
		line(who)
	}
	line("TRANSP:OPAQUE")
	line("END:VEVENT")
}

// organizer is the ORGANIZER line. A person without an address gets the customary one
// that reaches nobody, because the property must have one.
func (e *Entry) organizer() string {
	address := "invalid:nomail"
	if mail := e.Organizer.Email; mail != "" && !strings.ContainsFunc(mail, notAddress) {
		address = "mailto:" + mail
	}
	if name := parameter(e.Organizer.Name); name != "" {
		return `ORGANIZER;CN="` + name + `":` + address
	}
	if address == "invalid:nomail" {
		return ""
	}
	return "ORGANIZER:" + address
}

func notAddress(r rune) bool {
	return r <= ' ' || r == 0x7f || r == '"' || r == '<' || r == '>' || r == '\\' || r == utf8.RuneError
}

var (
	oneBreak = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	toCaret  = strings.NewReplacer("^", "^^", `"`, "^'", "\n", "^n", `\`, "/")
)

// text escapes a TEXT value (RFC 5545, 3.3.11).
func text(s string) string {
	return escapeText.Replace(title(oneBreak.Replace(s)))
}

// parameter makes a name fit between quotes: RFC 6868 for what it may not
// hold, and a slash for the backslash, which half of all readers take for an escape.
func parameter(s string) string {
	return toCaret.Replace(strings.TrimSpace(title(oneBreak.Replace(s))))
}

// fold writes one line in pieces of at most 75 bytes, the second and later
// begun with a space, and never cuts a character (RFC 5545, 3.1).
func fold(w *bufio.Writer, s string) {
	left := 75
	for len(s) > left {
		n := left
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		_, _ = w.WriteString(s[:n] + "\r\n ") // Flush reports what went wrong
		s, left = s[n:], 74
	}
	_, _ = w.WriteString(s + "\r\n")
}
