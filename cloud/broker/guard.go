package broker

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// guard is our say in the router: who comes in, who may do what, and how much
// there may be. A fault in it ends in a refusal, not in the process.
type guard struct {
	mqtt.HookBase
	b *Broker
}

// The router keeps one table of packet ids for what a client sent and what it
// was sent, and mistakes one for the other. So requests of a client go by an
// id that the router comes to last; the answer gets the client's own back.
const (
	publishID   = 65534
	subscribeID = 65535
)

// busy is how many messages may wait between the router and a connection
// before whoever publishes is made to let the connection's goroutine run.
const busy = 128

// ID names the hook.
func (g *guard) ID() string { return "guard" }

// Provides lists the moments at which the router asks.
func (g *guard) Provides(moment byte) bool {
	return slices.Contains([]byte{
		mqtt.OnConnect, mqtt.OnConnectAuthenticate, mqtt.OnSessionEstablish, mqtt.OnSessionEstablished,
		mqtt.OnACLCheck, mqtt.OnPacketRead, mqtt.OnPacketProcessed, mqtt.OnPacketEncode, mqtt.OnPacketSent, mqtt.OnPublish, mqtt.OnPublished,
		mqtt.OnPublishDropped, mqtt.OnQosPublish, mqtt.OnQosComplete, mqtt.OnQosDropped, mqtt.OnSubscribed, mqtt.OnUnsubscribed,
		mqtt.OnWill, mqtt.OnWillSent, mqtt.OnDisconnect, mqtt.OnRetainMessage, mqtt.OnRetainedExpired, mqtt.OnRetainPublished,
	}, moment)
}

// connOf is our side of a client, nil for the router's own.
func connOf(cl *mqtt.Client) *conn {
	c, _ := cl.Net.Conn.(*conn)
	return c
}

// guarded keeps a fault of ours inside.
func (g *guard) guarded(what string) {
	if r := recover(); r != nil {
		g.b.o.Log.Error("broker fault", "in", what, "fault", r)
	}
}

// OnConnect decides about a CONNECT, before anything of an old session is
// touched.
func (g *guard) OnConnect(cl *mqtt.Client, pk packets.Packet) (err error) {
	err = errors.New("broker fault")
	defer g.guarded("connect")
	c := connOf(cl)
	if c == nil {
		return errors.New("client has no connection")
	}
	code, err := g.b.examine(c, cl, pk)
	if err == nil {
		cl.ID = session(c.user, cl.ID)
		c.id = cl.ID
		if k := cl.State.Keepalive; k == 0 || k > maxKeepAlive {
			cl.State.Keepalive = maxKeepAlive // whoever is gone is noticed in time
		}
		c.share.add(int(pk.FixedHeader.Remaining)) // its will outlives the connection
		return nil
	}
	g.b.log.warn("broker refused a client", "client", printable(cl.ID), "user", g.b.called(string(pk.Connect.Username)), "address", c.RemoteAddr().String(), "reason", err)
	_ = g.b.server.SendConnack(cl, code, false, nil)
	return err
}

// printable is a client's word, short and harmless enough for a log.
func printable(s string) string {
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// examine refuses a CONNECT with the return code that fits best.
func (b *Broker) examine(c *conn, cl *mqtt.Client, pk packets.Packet) (packets.Code, error) {
	if pk.ProtocolVersion != 4 {
		return packets.ErrUnsupportedProtocolVersion, errors.New("it does not speak MQTT 3.1.1")
	}
	if len(cl.ID) > maxClientID || !utf8.ValidString(cl.ID) {
		return packets.ErrClientIdentifierNotValid, errors.New("its client id cannot be taken")
	}
	user, err := b.identify(c, pk)
	if err != nil {
		return packets.ErrBadUsernameOrPassword, err
	}
	if !b.users.owns(user, cl.ID) {
		return packets.ErrClientIdentifierNotValid, errors.New("its client id is another user's name, or begins with it and a slash: choose another")
	}
	c.user = user
	if c.inside {
		c.user = Inside
	}
	if w := cl.Properties.Will; w.Flag == 1 && (!validTopic(w.TopicName) || !b.allowed(c.user, w.TopicName, true)) {
		return packets.ErrBadUsernameOrPassword, fmt.Errorf("its will is for %s, where it may not publish", printable(w.TopicName))
	}
	c.place.Know(c.user)
	return packets.CodeSuccess, nil
}

// session is what the router calls the session of a user's client. Each user has
// client ids of his own: two with the same one do not meet, so that nobody takes
// a session over that is not his, nor keeps another from his id.
func session(user, id string) string { return user + "/" + id }

// identify returns the user of a CONNECT, empty for anonymous.
func (b *Broker) identify(c *conn, pk packets.Packet) (string, error) {
	if c.inside {
		return "", nil
	}
	name := string(pk.Connect.Username)
	if c.local && b.o.AllowAnonymousLoopback && (len(b.o.Users) == 0 || name == "") {
		return "", nil
	}
	defer c.listen()()
	who := userAt{name, c.from}
	right := func() bool { return b.users.verify(name, string(pk.Connect.Password)) }
	err := b.guesses.try(c.there, who, c.local, right)
	if _, known := b.users.find(name); errors.Is(err, errWrong) && known {
		b.refusals.note(who)
	}
	if err != nil {
		return "", err
	}
	b.refusals.forget(who)
	return name, nil
}

// OnConnectAuthenticate only confirms: OnConnect has decided.
func (g *guard) OnConnectAuthenticate(cl *mqtt.Client, _ packets.Packet) bool {
	c := connOf(cl)
	return c != nil && c.id != "" && c.id == cl.ID
}

// OnSessionEstablish makes room for a new session, or an old one ready.
func (g *guard) OnSessionEstablish(cl *mqtt.Client, _ packets.Packet) {
	defer g.guarded("session")
	g.b.ids.enter(connOf(cl))
	if old, known := g.b.server.Clients.Get(cl.ID); known {
		g.b.pass(connOf(cl), allTraffic)
		renumber(old)
		if c := connOf(old); c != nil {
			c.share.drop() // what it has is the new client's from now on
		}
		return
	}
	g.b.evict(connOf(cl))
}

// OnSessionEstablished marks the end of what an old session had waiting.
func (g *guard) OnSessionEstablished(cl *mqtt.Client, _ packets.Packet) {
	if c := connOf(cl); c != nil {
		c.established = true
		g.b.yield(c)
		g.b.ids.leave(c)
		subscribed(cl)
	}
}

// OnACLCheck is asked for each publish, subscription and delivery.
func (g *guard) OnACLCheck(cl *mqtt.Client, topic string, write bool) (ok bool) {
	defer g.guarded("access")
	c := connOf(cl)
	ok = c != nil && g.b.allowed(c.user, topic, write)
	if !ok && write {
		g.b.log.warn("broker refused a message: its user may not publish there", "client", printable(cl.ID), "topic", printable(topic))
	}
	return ok
}

func (b *Broker) allowed(user, topic string, write bool) bool {
	if shared, ok := strings.CutPrefix(topic, "$share/"); ok && !write {
		_, topic, _ = strings.Cut(shared, "/")
	}
	if topic == "" || topic[0] == '$' {
		return false
	}
	return b.o.ACL == nil || b.o.ACL(user, topic, write)
}

// OnPacketRead refuses names that would burden the router, and moves the ids
// of requests out of the way.
func (g *guard) OnPacketRead(cl *mqtt.Client, pk packets.Packet) (_ packets.Packet, err error) {
	err = packets.ErrRejectPacket
	defer g.guarded("read")
	c := connOf(cl)
	if c.share.ended() {
		return pk, packets.ErrRejectPacket
	}
	switch pk.FixedHeader.Type {
	case packets.Publish:
		if !validTopic(pk.TopicName) {
			return pk, packets.ErrRejectPacket
		}
		if pk.FixedHeader.Qos == 1 && pk.PacketID != 0 {
			c.answered.publish, pk.PacketID = pk.PacketID, publishID
		}
		g.b.pass(c, oneMessage)
	case packets.Subscribe, packets.Unsubscribe:
		if len(pk.Filters)+cl.State.Subscriptions.Len() > maxSubscriptions && pk.FixedHeader.Type == packets.Subscribe {
			g.b.log.warn("broker ended a client with too many subscriptions", "client", printable(cl.ID))
			return pk, packets.ErrRejectPacket
		}
		for _, f := range pk.Filters {
			if !validLevels(f.Filter) {
				return pk, packets.ErrRejectPacket
			}
		}
		if pk.PacketID != 0 {
			c.answered.subscribe, pk.PacketID = pk.PacketID, subscribeID
		}
	}
	if gated(pk) {
		g.b.gate.enter(cl)
	}
	return pk, nil
}

// OnPacketEncode gives an answer the client's own packet id, and a refusal a code that the client knows.
func (g *guard) OnPacketEncode(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	c := connOf(cl)
	if c == nil {
		return pk
	}
	switch pk.FixedHeader.Type {
	case packets.Puback:
		if pk.PacketID == publishID && c.answered.publish != 0 {
			pk.PacketID = c.answered.publish
		}
	case packets.Suback, packets.Unsuback:
		pk.PacketID = c.answered.subscribe
	case packets.Connack:
		if pk.ProtocolVersion < 5 {
			pk.ReasonCode = returnCode(pk.ReasonCode)
		}
	}
	return pk
}

// returnCode is a reason of the router as MQTT 3.1.1 has it, 3.2.2.3: some have no code there.
func returnCode(reason byte) byte {
	switch {
	case reason == packets.ErrUnspecifiedError.Code: // a session is wanted without a client id
		return packets.Err3ClientIdentifierNotValid.Code
	case reason > packets.Err3NotAuthorized.Code:
		return packets.Err3NotAuthorized.Code
	}
	return reason
}

// OnQosPublish is called before a message is queued for a client. The queue
// is short, and its end is a message that was acknowledged and is lost: so
// whoever fills it faster than it is emptied steps back for a moment. It is
// always emptied, since writing to a conn does not block.
func (g *guard) OnQosPublish(cl *mqtt.Client, pk packets.Packet, _ int64, _ int) {
	c := connOf(cl)
	if c == nil {
		return
	}
	c.share.hold(pk.PacketID, cost(pk))
	if pk.FixedHeader.Type != packets.Publish {
		return
	}
	if !pk.FixedHeader.Dup {
		g.b.number(cl, pk)
	}
	if cl.Closed() {
		return
	}
	c.queued.Add(1)
	for i := 0; i < 1000 && c.queued.Load() > busy; i++ {
		runtime.Gosched()
	}
}

// OnPublished is called when a message is queued for all subscribers. One of QoS
// 0 is in no count until a connection has it, so those get their turn first.
func (g *guard) OnPublished(_ *mqtt.Client, pk packets.Packet) {
	if len(pk.Payload) > 1<<10 {
		runtime.Gosched()
	}
}

// OnPacketSent is called when a packet is in our buffer.
func (g *guard) OnPacketSent(cl *mqtt.Client, pk packets.Packet, _ []byte) {
	if c := connOf(cl); c != nil && pk.FixedHeader.Type == packets.Publish && pk.FixedHeader.Qos > 0 {
		c.queued.Add(-1)
	}
}

// OnPublishDropped is called when the queue was full all the same.
func (g *guard) OnPublishDropped(cl *mqtt.Client, pk packets.Packet) {
	if c := connOf(cl); c != nil && pk.FixedHeader.Qos > 0 {
		c.queued.Add(-1)
	}
	g.b.log.warn("broker dropped a message for a client that is too slow", "client", printable(cl.ID), "topic", pk.TopicName)
}

// validTopic says whether a name can be published to.
func validTopic(name string) bool {
	return name != "" && len(name) <= maxTopic && !strings.ContainsAny(name, "+#\x00") && validLevels(name)
}

// validLevels bounds how deep a name or a filter goes.
func validLevels(name string) bool {
	return len(name) <= maxTopic && strings.Count(name, "/") < maxLevels
}
