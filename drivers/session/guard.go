package session

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

const (
	// maxFrame bounds an MQTT packet from a broker that the client gets to see.
	maxFrame = 64 << 10
	// maxSkipped bounds a message that is read past. A broker that sends a
	// larger one could keep the connection busy for longer than its keepalive.
	maxSkipped = 16 << 20
)

// Packet types (MQTT 3.1.1, 2.2.1).
const (
	publish  = 3
	suback   = 9
	pingresp = 13
)

var errFrame = errors.New("broker sent a packet that is not allowed")

// TooLarge is a message that was not read.
type TooLarge struct {
	Topic    string
	Size     int // bytes, of the whole packet
	Retained bool
}

// Error names the topic and the size.
func (m TooLarge) Error() string {
	return fmt.Sprintf("message of %d bytes on %s is too large: %d at most are read", m.Size, shown(m.Topic), maxFrame)
}

// shown is as much of a topic as a person reads.
func shown(topic string) string {
	const most = 128
	if len(topic) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(topic[:most], ""), len(topic))
	}
	return topic
}

// guard checks the packets that come in before the MQTT client sees them: the
// client would allocate whatever size a header announces, and would crash on a
// SUBACK with more codes than were asked for. A message that is too large is
// read past and told, so that one that a broker has kept does not end every
// connection.
type guard struct {
	net.Conn
	in      *bufio.Reader
	failed  func(error)    // told why a read failed, each time
	skipped func(TooLarge) // told what was read past

	header []byte // checked, and not yet handed over
	body   int    // bytes of the packet still to come after it
}

func newGuard(c net.Conn, failed func(error), skipped func(TooLarge)) *guard {
	return &guard{Conn: c, in: bufio.NewReader(c), failed: failed, skipped: skipped}
}

// Read reads from the connection and fails before it hands over a header that
// is not allowed.
func (g *guard) Read(p []byte) (n int, err error) {
	for err == nil && len(g.header) == 0 && g.body == 0 {
		err = g.next()
	}
	switch {
	case err != nil:
		_ = g.Close() // a peer like that gets no more chances on this connection
		g.failed(err)
		return 0, err
	case len(g.header) > 0:
		n = copy(p, g.header)
		g.header = g.header[n:]
		return n, nil
	}
	if n, err = g.in.Read(p[:min(len(p), g.body)]); err != nil {
		g.failed(err)
	}
	g.body -= n
	return n, err
}

// next reads a header: the packet's type, and its remaining length in 1 to 4
// bytes (MQTT 3.1.1, 2.2.3).
func (g *guard) next() error {
	first, err := g.in.ReadByte()
	if err != nil {
		return err
	}
	header, size := []byte{first}, 0
	for shift := 0; ; shift += 7 {
		b, err := g.in.ReadByte()
		if err != nil {
			return err
		}
		header = append(header, b)
		size |= int(b&0x7f) << shift
		if b&0x80 == 0 {
			break
		}
		if shift == 21 {
			return fmt.Errorf("%w: its length has no end", errFrame)
		}
	}
	kind := first >> 4
	switch {
	case kind == publish && size > maxFrame:
		return g.skip(first&1 != 0, size)
	case !allowed(kind, size):
		return fmt.Errorf("%w: type %d with %d bytes", errFrame, kind, size)
	}
	g.header, g.body = header, size
	return nil
}

// skip reads past a message. Its topic comes first (MQTT 3.1.1, 3.3.2).
func (g *guard) skip(retained bool, size int) error {
	var length [2]byte
	if _, err := io.ReadFull(g.in, length[:]); err != nil {
		return err
	}
	topic := make([]byte, binary.BigEndian.Uint16(length[:])) // shorter than maxFrame
	if _, err := io.ReadFull(g.in, topic); err != nil {
		return err
	}
	m := TooLarge{string(topic), size, retained}
	if size > maxSkipped {
		return fmt.Errorf("%w: %w", errFrame, m)
	}
	if _, err := g.in.Discard(size - len(length) - len(topic)); err != nil {
		return err
	}
	g.skipped(m)
	return nil
}

// allowed knows the packets that a broker may send (MQTT 3.1.1, 3), and that
// this driver subscribes to one topic per packet.
func allowed(kind byte, size int) bool {
	switch kind {
	case 2, 4, 5, 6, 7, 11: // CONNACK, PUBACK, PUBREC, PUBREL, PUBCOMP, UNSUBACK
		return size == 2
	case publish:
		return size <= maxFrame
	case suback:
		return size == 3
	case pingresp:
		return size == 0
	}
	return false
}
