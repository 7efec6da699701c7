package main

import (
	"net"
	"slices"

	"roomgate/agent"
	"roomgate/cloud/broker"
	"roomgate/drivers"
)

// openRoomBroker starts the room broker, if there is to be one, and lets the
// drivers reach it without a socket.
func (g *gateway) openRoomBroker() error {
	o := broker.Options{Listen: g.config.Broker.Listen, Users: map[string]string{}, Log: g.log.With("broker", "room"),
		AllowAnonymousLoopback: len(g.config.Broker.Users) == 0, ACL: guard(agent.OwnRoomTopics(g.config.Gateway.ID), g.doors)}
	if o.Listen == "" {
		return nil
	}
	for _, u := range g.config.Broker.Users {
		password, err := u.Password.Reveal(u.PasswordFile)
		if err != nil {
			return fail(exitConfig, "password of broker user %s: %w", u.Name, err)
		}
		o.Users[u.Name] = password
	}
	b, err := g.openBroker("room broker", "broker", o)
	if err != nil {
		return err
	}
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

// doors are filters of the topics that open a door now.
func (g *gateway) doors() []string {
	if g.agent == nil { // nobody from outside is served before it is open
		return nil
	}
	return g.agent.GuardedTopics()
}

// guard lets nobody but the gateway publish to topics of its own, in which it
// speaks for itself, and to those that open a door.
func guard(own []string, doors func() []string) func(user, topic string, write bool) bool {
	return func(user, topic string, write bool) bool {
		if !write || user == broker.Inside {
			return true
		}
		matches := func(f string) bool { return broker.Matches(f, topic) }
		return !slices.ContainsFunc(own, matches) && !slices.ContainsFunc(doors(), matches)
	}
}
