package cloud

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Message is one MQTT application message.
type Message struct {
	Topic     string `json:"topic"`
	Payload   []byte `json:"payload"`
	QoS       byte   `json:"qos,omitempty"` // 0 or 1
	Retained  bool   `json:"retained,omitempty"`
	Duplicate bool   `json:"duplicate,omitempty"` // received: the broker sent it before
}

// The bounds of a message that a Link sends.
const (
	MaxTopic   = 1024    // bytes
	MaxPayload = 4 << 20 // bytes
)

// ErrMessage is wrapped by the error for a message that no broker would take:
// sending it again cannot help.
var ErrMessage = errors.New("message cannot be sent")

// check says whether a broker would take the message.
func (m Message) check() error {
	switch {
	case m.Topic == "" || len(m.Topic) > MaxTopic:
		return fmt.Errorf("%w: topic has %d bytes, want 1 to %d", ErrMessage, len(m.Topic), MaxTopic)
	case strings.ContainsAny(m.Topic, "+#\x00") || !utf8.ValidString(m.Topic):
		return fmt.Errorf("%w: topic %q has a wildcard or is not text", ErrMessage, m.Topic)
	case len(m.Payload) > MaxPayload:
		return fmt.Errorf("%w: payload has %d bytes, at most %d go", ErrMessage, len(m.Payload), MaxPayload)
	case m.QoS > 1:
		return fmt.Errorf("%w: QoS is %d, want 0 or 1", ErrMessage, m.QoS)
	}
	return nil
}
