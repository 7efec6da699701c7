// Package message is what people are told on their mobile devices: what a
// message may be, who gets it, and how it fares on each of its two ways,
// the cloud and a push gateway. It keeps nothing and starts nothing;
// package book stores and moves what is here.
package message

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"roomgate/agent/printable"
)

const (
	longestTitle = 200 // bytes
	// longestBody is in bytes. With its title it stays below what an ntfy server
	// takes as a message (4096 bytes) and not as an attachment.
	longestBody  = 3000
	longestEmail = 254
	// UsualLife is how long a message is worth sending unless it says so.
	UsualLife = 24 * time.Hour
	// LongestLife is the most that it may say.
	LongestLife = 7 * 24 * time.Hour
)

// Priority is how much a message presses.
type Priority string

// The priorities.
const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

// Source is who made a message.
type Source string

// The sources.
const (
	FromAPI     Source = "api"
	FromBooking Source = "booking" // the building tells an organizer
	FromRule    Source = "rule"
)

// To is the recipient of a message. Of a request exactly one of Email, UserID,
// BookingID and Topic is there; what is found by it is filled in.
type To struct {
	Email     string `json:"email,omitempty"`
	Name      string `json:"name,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	BookingID string `json:"booking_id,omitempty"` // its organizer
	Topic     string `json:"topic,omitempty"`      // of the device at the push gateway
}

// Message is one message, as it goes up to the cloud too.
type Message struct {
	ID             string    `json:"id"`
	OrganizationID string    `json:"organization_id,omitempty"`
	SpaceID        string    `json:"meeting_space_id,omitempty"`
	To             To        `json:"to"`
	Title          string    `json:"title"`
	Body           string    `json:"body"`
	Priority       Priority  `json:"priority"`
	Source         Source    `json:"source"`
	CreatedAt      time.Time `json:"created_at"`
	ExpiresAt      time.Time `json:"expires_at"` // not worth sending from then on
}

// Request is what is asked for.
type Request struct {
	OrganizationID string // that the message belongs to; empty: that of its recipient, booking or space
	SpaceID        string
	To             To
	Title, Body    string
	Priority       Priority // empty: Normal
	Source         Source
	// ExpiresAt or Life say how long it is worth sending; neither: UsualLife.
	ExpiresAt time.Time
	Life      time.Duration
}

var (
	emailPattern = regexp.MustCompile(`^[^\s@<>"(),;:\\]+@[^\s@<>"(),;:\\]+$`)
	// topicPattern is what an ntfy server takes as a topic.
	topicPattern = regexp.MustCompile(`^[-_A-Za-z0-9]+$`)
)

// ValidTopic says whether a push gateway can have a topic of that name.
func ValidTopic(topic string) bool { return len(topic) <= 64 && topicPattern.MatchString(topic) }

// Check tidies a request and refuses what no message can be.
func (r *Request) Check() error {
	if err := r.To.check(); err != nil {
		return err
	}
	r.Title, r.Body = strings.TrimSpace(r.Title), strings.TrimSpace(r.Body)
	switch {
	case r.Title == "" || len(r.Title) > longestTitle:
		return wrong("title", "must have 1 to %d bytes", longestTitle)
	case !printable.Line(r.Title):
		return wrong("title", "has characters that cannot be shown: want one line of text")
	case r.Body == "" || len(r.Body) > longestBody:
		return wrong("body", "must have 1 to %d bytes", longestBody)
	case !printable.Lines(r.Body):
		return wrong("body", "has characters that cannot be shown: want text")
	}
	switch r.Priority {
	case "":
		r.Priority = Normal
	case Low, Normal, High, Urgent:
	default:
		return wrong("priority", "is not known: want low, normal, high or urgent")
	}
	switch {
	case r.Life != 0 && !r.ExpiresAt.IsZero():
		return wrong("ttl", "and expires_at are both there: send one")
	case r.Life < 0 || r.Life > LongestLife:
		return wrong("ttl", "is out of range: want up to 7 days")
	}
	return nil
}

// check refuses a recipient that is nobody, or several.
func (t *To) check() error {
	given := 0
	for _, s := range []string{t.Email, t.UserID, t.BookingID, t.Topic} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return wrong("to", "has %d of email, user_id, booking_id and topic: want exactly one", given)
	case t.Email != "" && (len(t.Email) > longestEmail || !emailPattern.MatchString(t.Email)):
		return wrong("to.email", "is not an address: want one like name@example.com")
	case t.Topic != "" && !ValidTopic(t.Topic):
		return wrong("to.topic", "is not a topic: want 1 to 64 letters, digits, - and _")
	}
	return nil
}

// LifeAt is how long a checked request is worth sending from now on, in words
// of its own time: ExpiresAt counts by a clock that is trusted only, by one
// that is not the usual life holds.
func (r *Request) LifeAt(now time.Time, trusted bool) (time.Duration, error) {
	switch {
	case r.Life > 0:
		return r.Life, nil
	case r.ExpiresAt.IsZero() || !trusted:
		return UsualLife, nil
	}
	life := r.ExpiresAt.Sub(now)
	switch {
	case life <= 0:
		return 0, wrong("expires_at", "is over: want a time in the future")
	case life > LongestLife:
		return 0, wrong("expires_at", "is out of range: want a time within 7 days")
	}
	return life, nil
}

// Print tells whether two requests ask for the same.
func (r *Request) Print() string {
	text, _ := json.Marshal(r) // texts and times only
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// Clip keeps what somebody has named short enough to be shown: at most so many
// characters, and an ellipsis where it was cut.
func Clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
