package broker

import (
	"errors"
	"os"
	"time"
)

// maxAhead is how many bytes of a client are read while its password waits. Of one that sends more it is noticed only after
// that if it hangs up.
const maxAhead = 1024

// listen reads what the client sends, until stop is called: so one that hangs up is gone at once. The router must not read
// meanwhile; it gets later what was read.
func (c *conn) listen() (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for piece := make([]byte, maxAhead); len(c.ahead) < maxAhead; {
			n, err := c.Conn.Read(piece[:maxAhead-len(c.ahead)])
			c.ahead = append(c.ahead, piece[:n]...)
			if err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					c.gone()
				}
				return
			}
		}
	}()
	return func() {
		c.readUntil(time.Unix(1, 0))
		<-done
		c.readUntil(c.connectBy)
	}
}

// readUntil sets the end of reading, unless the connection ends anyway.
func (c *conn) readUntil(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = c.Conn.SetReadDeadline(t)
	}
}
