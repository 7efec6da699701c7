package frame

import (
	"errors"
	"fmt"
	"io"
)

// errTooLarge is a PUBLISH that is well-formed and larger than we read.
var errTooLarge = fmt.Errorf("%w: too large", ErrFrame)

// Skipped is a PUBLISH that was read past.
type Skipped struct {
	Topic string
	Bytes int // of the packet after its header
	QoS   byte
	ID    uint16 // of the packet; 0 at QoS 0
}

// skip reads past the packet whose header is next. It keeps nothing of it but the topic.
func (r *Reader) skip(flags byte, headLen, length int) error {
	s := Skipped{Bytes: length, QoS: flags >> 1 & 3}
	if s.QoS > r.rules.MaxQoS {
		return fmt.Errorf("%w: QoS %d", ErrFrame, s.QoS)
	}
	head := make([]byte, headLen+2)
	if _, err := io.ReadFull(r.buf, head); err != nil {
		return midway(err, true)
	}
	topic := make([]byte, int(head[headLen])<<8|int(head[headLen+1]))
	left := length - 2 - len(topic)
	if s.QoS > 0 {
		left -= 2
	}
	if len(topic) == 0 || left < 0 {
		return fmt.Errorf("%w: topic of %d bytes in a packet of %d", ErrFrame, len(topic), length)
	}
	if _, err := io.ReadFull(r.buf, topic); err != nil {
		return midway(err, true)
	}
	s.Topic = string(topic)
	if s.QoS > 0 {
		var id [2]byte
		if _, err := io.ReadFull(r.buf, id[:]); err != nil {
			return midway(err, true)
		}
		s.ID = uint16(id[0])<<8 | uint16(id[1])
	}
	if _, err := r.buf.Discard(left); err != nil {
		return midway(err, true)
	}
	return r.Skip(s)
}

// skips says whether a refused packet is one to read past.
func (r *Reader) skips(err error) bool { return r.Skip != nil && errors.Is(err, errTooLarge) }
