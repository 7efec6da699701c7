package cloud

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

const (
	// probeTimeout bounds one look at what the far end speaks.
	probeTimeout = 3 * time.Second
	// probeEvery is how often it is looked at.
	probeEvery = time.Minute
)

// otherwise is err or, if the far end closed before it answered, the reason that
// shows when it is spoken to otherwise: with TLS where we are plain, or plain where
// we want TLS. Many close without a word then. Nothing secret is sent.
func (l *Link) otherwise(ctx context.Context, err error) error {
	if causeOf(err, false) != CauseNoAnswer || ctx.Err() != nil {
		return err
	}
	l.mu.Lock()
	look := l.looked.IsZero() || time.Since(l.looked) >= probeEvery
	if look {
		l.looked, l.speaks = time.Now(), ""
	}
	speaks := l.speaks
	l.mu.Unlock()
	if look {
		if speaks = l.look(ctx); speaks != "" {
			l.mu.Lock()
			l.speaks = speaks
			l.mu.Unlock()
		}
	}
	if speaks == "" {
		return err
	}
	return fault{speaks, err}
}

// look speaks to the far end as we otherwise do not.
func (l *Link) look(ctx context.Context) Cause {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := l.o.Dial(ctx, "tcp", l.address)
	if err != nil {
		return ""
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if l.url.Scheme == "mqtts" {
		if answersPlain(conn) {
			return CauseTLSMissing
		}
		return ""
	}
	// Only whether it speaks TLS is asked: nothing is sent, so nobody need be believed.
	err = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) //nolint:gosec // see above
	if err == nil || alert(err) != "" {
		return CauseTLSWanted
	}
	return ""
}

// answersPlain logs in without a name and says whether a broker answers, be it that
// it refuses.
func answersPlain(conn net.Conn) bool {
	hello := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	hello.ProtocolName, hello.ProtocolVersion, hello.CleanSession, hello.Keepalive = "MQTT", 4, true, 10
	if hello.Write(conn) != nil {
		return false
	}
	answer := make([]byte, 4)
	_, err := io.ReadFull(conn, answer)
	return err == nil && answer[0] == 0x20 && answer[1] == 2 // a CONNACK (MQTT 3.1.1, 3.2)
}
