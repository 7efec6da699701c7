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
		AllowAnonymousLoopback: len(g.config.Broker.Users) == 0, ACL: guard(g.guarded())}
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

// guarded are the topics that open this building's doors, and those in which
// the gateway speaks for itself.
func (g *gateway) guarded() (filters []string) {
	filters = agent.OwnRoomTopics(g.config.Gateway.ID)
	for _, s := range g.config.Spaces {
		for _, d := range s.Devices {
			if o, ok := d.Options.(drivers.Guarded); ok {
				filters = append(filters, o.Guarded()...)
			}
		}
	}
	return filters
}

// guard lets nobody but the gateway publish to the filters.
func guard(filters []string) func(user, topic string, write bool) bool {
	return func(user, topic string, write bool) bool {
		return !write || user == broker.Inside ||
			!slices.ContainsFunc(filters, func(f string) bool { return broker.Matches(f, topic) })
	}
}
