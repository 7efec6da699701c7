package broker

import "sync/atomic"

// ending ends something once, and tells everybody who asks how that went. It is
// not a sync.Once, whose mutex would stop virtual time.
type ending struct {
	begun atomic.Bool
	done  chan struct{} // closed when it has ended
	err   error
}

// once ends it by f, or waits until somebody else has.
func (e *ending) once(f func() error) error {
	if e.begun.CompareAndSwap(false, true) {
		e.err = f()
		close(e.done)
	}
	<-e.done
	return e.err
}
