package roombroker

import (
	"maps"
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/cloud/filter"
	"roomgate/drivers"
)

// Topics are MQTT topic filters of what a user may say and hear.
type Topics struct{ Publish, Subscribe []string }

// Device is a device that may be at the room broker.
type Device struct {
	ID      string
	Options drivers.Options
}

// Access is who may say and hear what. It does not change.
type Access struct {
	users    map[string]Topics
	guessed  []string // users without lists, in order
	unsure   map[string]bool
	unheard  []account           // of devices for which nobody speaks
	shared   []account           // of doors for which several users speak
	own      []string            // filters of what the gateway says of itself
	speakers map[string][]string // users by the id of a device
	doors    []func(topic string) bool
}

// New makes it of the configuration's users and the devices that there are.
func New(c *config.Config, devices []Device) *Access {
	a := &Access{users: map[string]Topics{}, unsure: map[string]bool{}, speakers: map[string][]string{}, own: Own(c.Gateway.ID)}
	g := guess{c: c, accounts: accountsOf(devices)}
	for _, u := range c.Broker.Users {
		t := Topics{u.Publish, u.Subscribe}
		if t.Publish == nil || t.Subscribe == nil {
			a.guessed = append(a.guessed, u.Name)
			guessed := g.topics(u)
			a.unsure[u.Name] = g.unsure(u)
			if t.Publish == nil {
				t.Publish = guessed.Publish
			}
			if t.Subscribe == nil {
				t.Subscribe = guessed.Subscribe
			}
		}
		a.users[u.Name] = t
	}
	for _, d := range g.accounts {
		if d.Opens != nil {
			a.doors = append(a.doors, d.Opens)
		}
		a.judge(d)
	}
	return a
}

// Of is the access to the room broker of a configuration and its own devices.
func Of(c *config.Config) *Access {
	var all []Device
	for _, s := range c.Spaces {
		for _, d := range s.Devices {
			all = append(all, Device{d.ID, d.Options})
		}
	}
	return New(c, all)
}

// judge notes of a device who speaks for it.
func (a *Access) judge(d account) {
	speak := 0
	for _, name := range slices.Sorted(maps.Keys(a.users)) {
		if a.users[name].speakFor(d) {
			speak++
			a.speakers[d.device] = append(a.speakers[d.device], name)
		}
	}
	switch {
	case len(a.users) == 0:
	case speak == 0:
		a.unheard = append(a.unheard, d)
	case speak > 1 && d.Opens != nil:
		a.shared = append(a.shared, d)
	}
}

// speakFor says whether a list has something that a device is known by.
func (t Topics) speakFor(d account) bool {
	return slices.ContainsFunc(t.Publish, func(f string) bool {
		return slices.ContainsFunc(d.Says, func(s string) bool { return filter.Covers(f, s) || filter.Covers(s, f) })
	})
}

// May says whether a user may publish to a topic (write), or read all that a
// filter stands for. Where no users are configured, which is on loopback, everybody
// is "" and may do what nobody is kept from.
func (a *Access) May(user, topic string, write bool) bool {
	if write && a.reserved(topic) {
		return false
	}
	if len(a.users) == 0 {
		return true
	}
	list := a.users[user].Subscribe
	if write {
		list = a.users[user].Publish
	}
	return slices.ContainsFunc(list, func(f string) bool { return filter.Covers(f, topic) })
}

// reserved says whether a topic is for the gateway alone to publish to.
func (a *Access) reserved(topic string) bool {
	return slices.ContainsFunc(a.own, func(f string) bool { return filter.Matches(f, topic) }) ||
		slices.ContainsFunc(a.doors, func(opens func(string) bool) bool { return opens(topic) })
}

// Topics are a user's lists, those that were guessed too.
func (a *Access) Topics(user string) Topics { return a.users[user] }

// Certain says whether a user's lists are configured, or are guessed and are no
// other user's too.
func (a *Access) Certain(user string) bool { return !a.unsure[user] }

// Unheard are the ids of devices for which no user may speak.
func (a *Access) Unheard() []string { return ids(a.unheard) }

// Speakers are the users that may speak for a device, in order.
func (a *Access) Speakers(id string) []string {
	return slices.Compact(slices.Sorted(slices.Values(a.speakers[id])))
}

func ids(of []account) (all []string) {
	for _, d := range of {
		all = append(all, d.device)
	}
	return all
}

// account is an account with its device.
type account struct {
	device string // its id
	drivers.Account
}

func accountsOf(devices []Device) (all []account) {
	for _, d := range devices {
		o, ok := d.Options.(drivers.AtRoomBroker)
		if !ok {
			continue
		}
		for _, one := range o.Accounts() {
			all = append(all, account{d.ID, one})
		}
	}
	return all
}

// named says whether a user is called as this device's.
func (d account) named(user string) bool {
	return strings.EqualFold(user, d.device) ||
		slices.ContainsFunc(d.Names, func(n string) bool { return strings.EqualFold(n, user) })
}
