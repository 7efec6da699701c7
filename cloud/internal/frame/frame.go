// Package frame checks MQTT 3.1.1 packets before any decoder sees them: a
// length is believed only once it is known to be allowed, so that no peer can
// make us reserve memory, and a packet whose inner length does not fit is
// never handed on.
package frame

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// The packet types of MQTT 3.1.1, table 2.1.
const (
	Connect     = 1
	Connack     = 2
	Publish     = 3
	Puback      = 4
	Pubrec      = 5
	Pubrel      = 6
	Pubcomp     = 7
	Subscribe   = 8
	Suback      = 9
	Unsubscribe = 10
	Unsuback    = 11
	Pingreq     = 12
	Pingresp    = 13
	Disconnect  = 14
)

// ErrFrame is wrapped by every refusal of a packet.
var ErrFrame = errors.New("packet refused")

// ErrGoodbye is a DISCONNECT from where none is expected. Brokers of MQTT 5 send it
// to a client of 3.1.1 too, before they close, as when another has its id.
var ErrGoodbye = fmt.Errorf("%w: the broker ends the connection", ErrFrame)

// Rule is what one packet type may look like.
type Rule struct {
	Allowed  bool
	Flags    byte // of the first byte; not looked at for PUBLISH
	Min, Max int  // remaining length, bytes
}

// Rules are what one side of a connection may send.
type Rules struct {
	First    byte // the type that must come first, and never again
	Types    [16]Rule
	MaxQoS   byte
	MaxTopic int // of a PUBLISH, bytes
}

// FromBroker are the rules for what a broker sends to a client that uses no
// QoS 2, subscribes to one filter per packet.
func FromBroker(maxPacket, maxTopic int) *Rules {
	r := &Rules{First: Connack, MaxQoS: 1, MaxTopic: maxTopic}
	r.Types[Connack] = Rule{true, 0, 2, 2}
	r.Types[Publish] = Rule{true, 0, 3, maxPacket}
	r.Types[Puback] = Rule{true, 0, 2, 2}
	r.Types[Suback] = Rule{true, 0, 3, 3}
	r.Types[Unsuback] = Rule{true, 0, 2, 2}
	r.Types[Pingresp] = Rule{true, 0, 0, 0}
	return r
}

// FromClient are the rules for what a client sends to a broker. maxConnect
// bounds the one packet that comes before authentication.
func FromClient(maxConnect, maxPacket, maxTopic int) *Rules {
	r := &Rules{First: Connect, MaxQoS: 2, MaxTopic: maxTopic}
	r.Types[Connect] = Rule{true, 0, 12, maxConnect}
	r.Types[Publish] = Rule{true, 0, 3, maxPacket}
	for _, ack := range []int{Puback, Pubrec, Pubcomp} {
		r.Types[ack] = Rule{true, 0, 2, 2}
	}
	r.Types[Pubrel] = Rule{true, 2, 2, 2}
	r.Types[Subscribe] = Rule{true, 2, 6, maxPacket}
	r.Types[Unsubscribe] = Rule{true, 2, 5, maxPacket}
	r.Types[Pingreq] = Rule{true, 0, 0, 0}
	r.Types[Disconnect] = Rule{true, 0, 0, 0}
	return r
}

// Reader passes on what follows the rules and stops at the first packet that
// does not.
type Reader struct {
	buf   *bufio.Reader
	rules *Rules
	left  int // bytes of the packet that is being passed on
	begun bool
	err   error
	// Seen, if set, is asked about each packet type that the rules allow; an
	// error refuses the packet.
	Seen func(packetType byte) error
	// Skip, if set, is told of each PUBLISH that is larger than the rules allow and was read past; an
	// error ends the reading. Without it such a packet is refused.
	Skip func(Skipped) error
}

// NewReader checks what r gives.
func NewReader(r io.Reader, rules *Rules) *Reader {
	return &Reader{buf: bufio.NewReaderSize(r, 4096), rules: rules}
}

// Read passes on bytes of one packet at a time.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.left == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n, err := r.buf.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, midway(err, r.left > 0)
}

// midway says that an end is no end if it comes within a packet.
func midway(err error, within bool) error {
	if within && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next waits for a packet's header and checks it. A refusal is final.
func (r *Reader) next() error {
	if r.err != nil {
		return r.err
	}
	for {
		head, length, err := r.header()
		if err != nil {
			return err
		}
		first, headLen := head[0], len(head)
		r.err = r.check(first, headLen, length)
		if r.skips(r.err) {
			r.err = r.skip(first&15, headLen, length)
		} else if r.err == nil {
			r.begun = true
			r.left = headLen + length
			return nil
		}
		if r.err != nil {
			return r.err
		}
	}
}

// header peeks at the fixed header, section 2.2.
func (r *Reader) header() (head []byte, length int, err error) {
	for n := 2; n <= 5; n++ {
		if head, err = r.buf.Peek(n); err != nil {
			return nil, 0, midway(err, len(head) > 0)
		}
		last := head[n-1]
		length |= int(last&127) << (7 * (n - 2))
		if last&128 == 0 {
			return head, length, nil
		}
	}
	r.err = fmt.Errorf("%w: its length does not end", ErrFrame)
	return nil, 0, r.err
}

func (r *Reader) check(first byte, headLen, length int) error {
	kind, flags := first>>4, first&15
	rule := r.rules.Types[kind]
	switch {
	case !rule.Allowed && kind == Disconnect:
		return ErrGoodbye
	case !rule.Allowed:
		return fmt.Errorf("%w: type %d is not expected here", ErrFrame, kind)
	case r.begun == (kind == r.rules.First):
		return fmt.Errorf("%w: type %d is out of turn", ErrFrame, kind)
	case kind != Publish && flags != rule.Flags:
		return fmt.Errorf("%w: type %d has flags %d", ErrFrame, kind, flags)
	case kind == Publish && length > rule.Max:
		return fmt.Errorf("%w: type %d has %d bytes, want %d to %d", errTooLarge, kind, length, rule.Min, rule.Max)
	case length < rule.Min || length > rule.Max:
		return fmt.Errorf("%w: type %d has %d bytes, want %d to %d", ErrFrame, kind, length, rule.Min, rule.Max)
	}
	if kind == Publish {
		if err := r.checkPublish(flags, headLen, length); err != nil {
			return err
		}
	}
	if r.Seen != nil {
		return r.Seen(kind)
	}
	return nil
}

// checkPublish compares the topic's length with the packet's, section 3.3.
func (r *Reader) checkPublish(flags byte, headLen, length int) error {
	qos := flags >> 1 & 3
	if qos > r.rules.MaxQoS {
		return fmt.Errorf("%w: QoS %d", ErrFrame, qos)
	}
	b, err := r.buf.Peek(headLen + 2)
	if err != nil {
		return midway(err, true)
	}
	topic := int(b[headLen])<<8 | int(b[headLen+1])
	need := 2 + topic
	if qos > 0 {
		need += 2
	}
	if topic > r.rules.MaxTopic && need <= length {
		return fmt.Errorf("%w: topic of %d bytes", errTooLarge, topic)
	}
	if topic == 0 || need > length {
		return fmt.Errorf("%w: topic of %d bytes in a packet of %d", ErrFrame, topic, length)
	}
	return nil
}
