package cloudlink

import (
	"sync"

	"github.com/oklog/ulid/v2"

	"roomgate/cloud"
)

// presence is the data of up/presence. The session tells the will of an old
// connection, which may come late, from the birth of a new one.
type presence struct {
	State   string `json:"state"` // online, offline
	Session string `json:"session"`
	Version string `json:"version"`
}

// session makes the presence messages of one connection after the other.
type session struct {
	link *Link
	mu   sync.Mutex
	id   string
}

// will begins a session: it is made before each CONNECT.
func (s *session) will() cloud.Message {
	s.mu.Lock()
	s.id = ulid.Make().String()
	s.mu.Unlock()
	return s.message("offline")
}

// mine says whether a presence message is from this run of the gateway.
func (l *Link) mine(m cloud.Message) bool {
	e, err := cloud.Decode(m.Payload)
	return err == nil && e.BootID == l.o.Events.Boot()
}

func (s *session) birth() cloud.Message    { return s.message("online") }
func (s *session) farewell() cloud.Message { return s.message("offline") }

func (s *session) message(state string) cloud.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.link.live(cloud.LevelPresence, "", true, presence{state, s.id, s.link.o.Version})
	if err != nil {
		s.link.o.Log.Error("cannot make the presence message", "error", err)
	}
	return m
}
