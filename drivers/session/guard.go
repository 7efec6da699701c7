package session

import (
	"errors"
	"net"
)

// maxFrame bounds an MQTT packet from a broker, of whatever topic.
const maxFrame = 64 << 10

var errFrame = errors.New("broker sent a packet that is not allowed")

// guard checks the packets that come in before the MQTT client sees them: the
// client would allocate whatever size a header announces, and would crash on a
// SUBACK with more codes than were asked for.
type guard struct {
	net.Conn
	failed func(error) // told why a read failed, each time

	state guardState
	kind  byte // packet type of the header being read
	size  int  // remaining length so far
	shift uint // of the next length byte
	body  int  // bytes of the packet's body still to come
}

type guardState byte

const (
	atHeader guardState = iota
	atLength
	atBody
)

// Read reads from the connection and fails before it hands over a header that
// is not allowed.
func (g *guard) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if bad := g.scan(p[:n]); bad != nil {
		_ = g.Close() // a peer like that gets no more chances on this connection
		n, err = 0, bad
	}
	if err != nil {
		g.failed(err)
	}
	return n, err
}

func (g *guard) scan(p []byte) error {
	for len(p) > 0 {
		switch g.state {
		case atHeader:
			g.kind, g.size, g.shift, g.state = p[0]>>4, 0, 0, atLength
			p = p[1:]
		case atLength:
			if err := g.length(p[0]); err != nil {
				return err
			}
			p = p[1:]
		case atBody:
			n := min(g.body, len(p))
			g.body -= n
			p = p[n:]
			if g.body == 0 {
				g.state = atHeader
			}
		}
	}
	return nil
}

// length takes one byte of the remaining length (MQTT 3.1.1, 2.2.3).
func (g *guard) length(b byte) error {
	g.size |= int(b&0x7f) << g.shift
	g.shift += 7
	if b&0x80 != 0 {
		if g.shift > 21 {
			return errFrame
		}
		return nil
	}
	if !allowed(g.kind, g.size) {
		return errFrame
	}
	g.body, g.state = g.size, atBody
	if g.size == 0 {
		g.state = atHeader
	}
	return nil
}

// allowed knows the packets that a broker may send (MQTT 3.1.1, 3), and that
// this driver subscribes to one topic per packet.
func allowed(kind byte, size int) bool {
	switch kind {
	case 2, 4, 5, 6, 7, 11: // CONNACK, PUBACK, PUBREC, PUBREL, PUBCOMP, UNSUBACK
		return size == 2
	case 3: // PUBLISH
		return size <= maxFrame
	case 9: // SUBACK
		return size == 3
	case 13: // PINGRESP
		return size == 0
	}
	return false
}
