// Package refusal remembers which messages of the cloud this process has refused, and how they were answered.
//
// Ids come in no order, and in a table by id each costs the card a page of its own. So they are in a queue, in the order
// in which they came, and memory has their places. What a process before this one has refused is with all other commands.
package refusal

import (
	"errors"
	"sync"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// Most is how many the queue holds.
	Most = 5000
	// lot is how many are forgotten in one transaction.
	lot = 100
)

// rows holds what was refused, the oldest first.
var rows = store.NewQueue[Row]("refused-ids", Most, store.Refuse)

// Buckets names what refusals have in the store.
func Buckets() []string { return []string{rows.Bucket()} }

// Len is how many there are in the queue.
func Len(tx *store.Tx) int { return rows.Len(tx) }

// Row is a refusal in few bytes: the id, what tells the message from others, and its answer.
type Row struct {
	ID     string       `json:"id"`
	Space  string       `json:"s,omitempty"`
	Type   string       `json:"d,omitempty"`
	Sub    string       `json:"u,omitempty"`
	Action string       `json:"a,omitempty"`
	State  string       `json:"t"`
	Code   problem.Code `json:"c,omitempty"`
	Reason string       `json:"r,omitempty"`
	Milli  int64        `json:"m"`
	Lived  clock.Lived  `json:"l"`
}

// IDs are the places in the queue by id. Its zero value knows none.
type IDs struct {
	mu sync.Mutex
	at map[string]uint64
}

// Find returns the refusal with that id; ok is false if there is none.
func (s *IDs) Find(tx *store.Tx, id string) (r Row, ok bool, err error) {
	s.mu.Lock()
	place, ok := s.at[id]
	s.mu.Unlock()
	if !ok {
		return r, false, nil
	}
	r, err = rows.Get(tx, place)
	if errors.Is(err, store.ErrNotFound) { // memory has a place shortly before the row is stored
		return r, false, nil
	}
	return r, err != nil || r.ID == id, err
}

// Put remembers a refusal for at least as long as memory says; stored is false while there is no room.
func (s *IDs) Put(tx *store.Tx, r Row, memory time.Duration) (stored bool, err error) {
	if err := s.forget(tx, r.Lived, memory); err != nil {
		return false, err
	}
	place, err := rows.Push(tx, r)
	if errors.Is(err, store.ErrQueueFull) {
		return false, nil
	}
	if err == nil {
		s.note(r.ID, place)
	}
	return err == nil, err
}

func (s *IDs) note(id string, place uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = map[string]uint64{}
	}
	s.at[id] = place
}

// forget forgets what is old enough, once there are too many.
func (s *IDs) forget(tx *store.Tx, now clock.Lived, memory time.Duration) error {
	if rows.Len(tx) < Most {
		return nil
	}
	oldest, err := rows.After(tx, 0, lot)
	if err != nil {
		return err
	}
	upTo := uint64(0)
	for _, item := range oldest {
		if now.Since(item.Value.Lived) < memory {
			break
		}
		upTo = item.Seq
	}
	if upTo == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, place := range s.at {
		if place <= upTo {
			delete(s.at, id)
		}
	}
	_, err = rows.Trim(tx, upTo)
	return err
}

// Recall finds the places of what is in the queue.
func (s *IDs) Recall(tx *store.Tx) error {
	left, err := rows.After(tx, 0, Most)
	for _, item := range left {
		s.note(item.Value.ID, item.Seq)
	}
	return err
}

// Move gives what is in the queue to whoever takes it, the oldest first, until one is not taken.
func Move(tx *store.Tx, take func(Row) (taken bool, err error)) error {
	for {
		page, err := rows.After(tx, 0, 1000)
		if err != nil || len(page) == 0 {
			return err
		}
		done := uint64(0)
		for _, item := range page {
			taken, err := take(item.Value)
			if err != nil {
				return err
			}
			if !taken {
				break
			}
			done = item.Seq
		}
		if _, err := rows.Trim(tx, done); err != nil || done < page[len(page)-1].Seq {
			return err
		}
	}
}
