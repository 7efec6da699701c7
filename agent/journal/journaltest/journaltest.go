// Package journaltest keeps a log for tests to read.
package journaltest

import (
	"strings"
	"sync"
)

// Log is what was logged so far. Tests read it while others write to it.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds p to the log. It never fails.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is the whole log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
