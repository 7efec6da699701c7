package main

import (
	"net"
	"net/http"

	"roomgate/cloud/broker"
	"roomgate/drivers"
)

// openRoomBroker starts the room broker, if there is to be one, and lets the
// drivers reach it without a socket.
func (g *gateway) openRoomBroker() error {
	c := g.config.Broker
	o := broker.Options{Listen: c.Listen, Users: map[string]string{}, Log: g.log.With("broker", "room"),
		AllowAnonymousLoopback: len(c.Users) == 0, ACL: g.mayAtRoomBroker, Password: roomPassword(g)}
	if o.Listen == "" {
		return nil
	}
	for _, u := range c.Users {
		password, err := u.Password.Reveal(u.PasswordFile)
		if err != nil {
			return fail(exitConfig, "password of broker user %s: %w", u.Name, err)
		}
		o.Users[u.Name] = password
	}
	secure, err := g.serverTLS("broker.tls", c.TLS)
	if err != nil {
		return err
	}
	o.TLS = secure
	b, err := g.openBroker("room broker", "broker", o)
	if err != nil {
		return err
	}
	g.room = b
	inside, ok := g.buses.(interface {
		Listen(address string, serve func(net.Conn)) error
	})
	if !ok { // a board of a test
		return nil
	}
	return inside.Listen(drivers.RoomBroker, func(c net.Conn) {
		if err := b.ServeInside(c); err != nil {
			g.log.Debug("a driver's connection to the room broker ended", "reason", err)
		}
	})
}

// tellRefused answers GET /room-broker/refused: whose password was wrong there.
func tellRefused(g *gateway) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		var all []broker.Refused
		if g.room != nil {
			all = g.room.Refused()
		}
		answerDoor(w, all, nil)
	}
}

// mayAtRoomBroker is the room broker's access list. The building may change at
// any time. Nobody from outside is served before it is open.
func (g *gateway) mayAtRoomBroker(user, topic string, write bool) bool {
	return user == broker.Inside || g.agent != nil && g.agent.Site.RoomAccess().May(user, topic, write)
}

// roomPassword is that of a user of the room broker that was made while the gateway ran.
func roomPassword(g *gateway) func(name string) (password string, known bool) {
	return func(name string) (string, bool) {
		if g.agent == nil {
			return "", false
		}
		return g.agent.Site.RoomPassword(name)
	}
}
