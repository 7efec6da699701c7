package engine

import (
	"maps"
	"sync"
	"time"

	"roomgate/agent/device"
)

// traces remember which rules have told which devices to do something: a device
// that changes soon after does so because of them.
type traces struct {
	mu    sync.Mutex
	left  map[traceKey]trace
	moved map[traceKey]bool // by the cloud, unsigned, and by nobody since
}

// traceKey is a device or sub-device that rules have given a command to.
type traceKey struct{ space, device, sub string }

// trace is what an event of such a device was caused by.
type trace struct {
	chain []string // ids of rules
	until time.Time
}

// leave remembers that a chain of rules has given a command.
func (l *traces) leave(c device.Command, chain []string, life time.Duration) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.left) >= maxTraces {
		maps.DeleteFunc(l.left, func(_ traceKey, t trace) bool { return now.After(t.until) })
	}
	if len(l.left) < maxTraces {
		l.left[traceKey{c.Space, c.DeviceType, c.SubDevice}] = trace{chain, now.Add(life)}
	}
}

// of is the chain of rules that has just given the device a command; nil: none
// has.
func (l *traces) of(device traceKey) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t, ok := l.left[device]; ok && time.Now().Before(t.until) {
		return t.chain
	}
	return nil
}

// move notes whether the word that moves a device now is one of the cloud that is not signed. There are no more than devices.
func (l *traces) move(c device.Command, unsigned bool) {
	key := traceKey{c.Space, c.DeviceType, c.SubDevice}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !unsigned {
		delete(l.moved, key)
	} else {
		l.moved[key] = true
	}
}

// changed notes that a device has changed. Long after a command that was not the command's doing.
func (l *traces) changed(device traceKey) {
	if l.of(traceKey{device.space, device.device, anySub}) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.moved, device)
}

// isMoved says whether a device is as the cloud has moved it.
func (l *traces) isMoved(device traceKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.moved[device]
}

// clear forgets all.
func (l *traces) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.left)
}
