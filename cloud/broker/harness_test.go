package broker

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(memoryChild) != "" {
		if err := serveChild(); err != nil {
			panic(err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// bubble runs f in virtual time with a broker that ends with it.
func bubble(t *testing.T, o Options, f func(t *testing.T, b *Broker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, open(t, o))
	})
}

func open(t *testing.T, o Options) *Broker {
	t.Helper()
	o.Log = quiet
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// client speaks MQTT packet by packet.
type client struct {
	t    *testing.T
	conn net.Conn
}

// dial opens a connection within the process.
func dial(t *testing.T, b *Broker) *client { return dialWith(t, b.Serve) }

func dialWith(t *testing.T, serve func(net.Conn) error) *client {
	near, far := net.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = serve(far)
	}()
	t.Cleanup(func() {
		_ = near.Close()
		<-served
	})
	return &client{t, near}
}

// hello is a CONNECT that is in order.
func hello(id string) *packets.ConnectPacket {
	p := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	p.ProtocolName, p.ProtocolVersion, p.Keepalive = "MQTT", 4, 60
	p.CleanSession, p.ClientIdentifier = true, id
	return p
}

func login(p *packets.ConnectPacket, user, password string) *packets.ConnectPacket {
	p.UsernameFlag, p.Username, p.PasswordFlag, p.Password = true, user, true, []byte(password)
	return p
}

func will(p *packets.ConnectPacket, topic string) *packets.ConnectPacket {
	p.WillFlag, p.WillTopic, p.WillMessage, p.WillQos, p.WillRetain = true, topic, []byte("gone"), 1, true
	return p
}

// connect returns the CONNACK's code, or -1 if the broker hung up.
func (c *client) connect(p *packets.ConnectPacket) int {
	c.send(p)
	ack, ok := c.read().(*packets.ConnackPacket)
	if !ok {
		return -1
	}
	return int(ack.ReturnCode)
}

func join(t *testing.T, b *Broker, p *packets.ConnectPacket) *client {
	t.Helper()
	c := dial(t, b)
	if code := c.connect(p); code != 0 {
		t.Fatalf("%s got code %d", p.ClientIdentifier, code)
	}
	return c
}

func (c *client) send(p packets.ControlPacket) {
	_ = c.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_ = p.Write(c.conn)
}

// read is the next packet, nil if there is none within 10 s.
func (c *client) read() packets.ControlPacket {
	p, _ := c.readErr()
	return p
}

func (c *client) readErr() (packets.ControlPacket, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	return packets.ReadPacket(c.conn)
}

// closed says whether the broker hung up, rather than stayed silent.
func (c *client) closed() bool {
	for {
		if _, err := c.readErr(); err != nil {
			return !isTimeout(err)
		}
	}
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// subscribe returns the code of the SUBACK, or -1 if the broker hung up.
func (c *client) subscribe(id uint16, filter string, qos byte) int {
	p := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
	p.MessageID, p.Topics, p.Qoss = id, []string{filter}, []byte{qos}
	c.send(p)
	for {
		switch p := c.read().(type) {
		case *packets.SubackPacket:
			if p.MessageID != id {
				c.t.Errorf("SUBACK has id %d, want %d", p.MessageID, id)
			}
			return int(p.ReturnCodes[0])
		case nil:
			return -1
		}
	}
}

func message(id uint16, topic, payload string, qos byte, retain bool) *packets.PublishPacket {
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.MessageID, p.TopicName, p.Payload, p.Qos, p.Retain = id, topic, []byte(payload), qos, retain
	return p
}

// publish says whether the broker acknowledged.
func (c *client) publish(id uint16, topic, payload string, retain bool) bool {
	c.send(message(id, topic, payload, 1, retain))
	for {
		switch p := c.read().(type) {
		case *packets.PubackPacket:
			return p.MessageID == id
		case nil:
			return false
		}
	}
}

// next is the payload of the next message, empty if none comes.
func (c *client) next() string {
	for {
		switch p := c.read().(type) {
		case *packets.PublishPacket:
			if p.Qos == 1 {
				a := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
				a.MessageID = p.MessageID
				c.send(a)
			}
			return string(p.Payload)
		case nil:
			return ""
		}
	}
}

// hash is a password as Options.Users may hold it.
func hash(password string, rounds int) (string, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("salt for password: %w", err)
	}
	key, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	b64 := base64.RawStdEncoding
	return hashPrefix + strconv.Itoa(rounds) + "$" + b64.EncodeToString(salt) + "$" + b64.EncodeToString(key), nil
}
