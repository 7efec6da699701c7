package book

import (
	"errors"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/message"
	"roomgate/store"
)

// messages holds what was sent to mobile devices by id.
var messages = store.NewTable[storedMessage]("messages")

// storedMessage is a message with how it goes to the push gateway.
type storedMessage struct {
	message.Message
	Sequence uint64          `json:"sequence"` // of its row in the log, by which it goes up
	Push     message.Channel `json:"push"`
	Topic    string          `json:"topic,omitempty"`  // in memory, and of an earlier version
	Sealed   []byte          `json:"sealed,omitempty"` // topics
	Posted   auth.Moment     `json:"posted"`
	Life     time.Duration   `json:"life"`
	Key      string          `json:"key,omitempty"` // of the request
	Print    string          `json:"print,omitempty"`
}

// Buckets names what the book has in the store.
func Buckets() []string { return []string{messages.Bucket()} }

// Forget gives up what waits for the push gateway, for a database that
// becomes that of another gateway: it is the old one's to send.
func Forget(tx *store.Tx) error {
	var err error
	for id, s := range messages.All(tx) {
		if s.Push.Open() {
			s.Push.State, s.Push.Reason = message.Expired, "this gateway was made from a backup of another, which sends it"
			err = errors.Join(err, messages.Put(tx, id, s))
		}
	}
	return err
}

// Words are the texts and names that messages hold, for what must not show them.
func Words(tx *store.Tx, keys *auth.Keys) (words []string) {
	for _, s := range messages.All(tx) {
		s = s.open(keys)
		words = append(words, s.Title, s.Body, s.Topic, s.To.Email, s.To.Name, s.To.UserID, s.To.Topic)
	}
	return words
}
