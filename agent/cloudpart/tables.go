package cloudpart

import (
	"errors"
	"fmt"
	"time"

	"roomgate/store"
)

var (
	// sets holds the messages in parts by signing key, level, meeting space (of a
	// schedule) and the id that all parts have as whole.
	sets = store.NewTable[set]("message-parts")
	// parts holds the parts that have come, by the key of the message and their number.
	parts = store.NewTable[part]("message-part-data")
)

// Buckets names the tables in the store.
func Buckets() []string { return []string{sets.Bucket(), parts.Bucket()} }

// set says which parts of a message have come.
type set struct {
	Revision uint64    `json:"revision"`
	Kind     string    `json:"kind,omitempty"`
	Of       int       `json:"of"`
	Whole    string    `json:"whole"`
	IDs      []string  `json:"ids"`   // of the parts; empty: it has not come
	Sizes    []int     `json:"sizes"` // bytes
	Since    time.Time `json:"since"`
	Over     bool      `json:"over,omitempty"`     // it was answered, and its parts are gone
	Accepted bool      `json:"accepted,omitempty"` // whole: only then its revision counts for others
	Refused  bool      `json:"refused,omitempty"`  // whole, and its parts are still there
}

// part is one that has come.
type part struct {
	ID     string    `json:"id"`
	Source string    `json:"source"`
	Time   time.Time `json:"time"`
	Sealed []byte    `json:"sealed"`
}

// is says whether a part belongs to the message.
func (s set) is(h head) bool {
	return s.Revision == h.Revision && s.Kind == h.Kind && s.Of == h.Of && s.Whole == h.Whole
}

// open says that the message has no answer yet.
func (s set) open() bool { return !s.Over && !s.Accepted && !s.Refused }

func (s set) size() (n int) {
	if s.Over {
		return 0
	}
	for _, size := range s.Sizes {
		n += size
	}
	return n
}

func partKey(key string, number int) string { return fmt.Sprintf("%s/%03d", key, number) }

// Forget deletes all parts: they were for the gateway that stored them.
func Forget(tx *store.Tx) (err error) {
	for key := range sets.All(tx) {
		err = errors.Join(err, sets.Delete(tx, key))
	}
	for key := range parts.All(tx) {
		err = errors.Join(err, parts.Delete(tx, key))
	}
	return err
}
