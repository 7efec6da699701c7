package auth

import "sync"

// maxTokens bounds the tokens that are remembered. When there are more, all
// are forgotten: to read one again costs microseconds.
const maxTokens = 512

// tokens remembers what was read of genuine tokens, because to read JSON at
// every request would cost as much as to answer it. Nothing that may change is
// in it: age, keys and subjects are judged each time.
type tokens struct {
	mu   sync.RWMutex
	read map[string]Token
}

func (s *tokens) get(text string) (Token, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, ok := s.read[text]
	return t, ok
}

func (s *tokens) put(text string, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == nil || len(s.read) >= maxTokens {
		s.read = map[string]Token{}
	}
	s.read[text] = t
}
