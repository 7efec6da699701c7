package site

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/agent/problem"
	"roomgate/agent/roombroker"
	"roomgate/drivers"
)

// RoomUser is a user of the room broker that was made with a device, and goes with it.
type RoomUser struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// seal is the user as it is stored.
func (u *RoomUser) seal(keys *auth.Keys, key string) []byte {
	if u == nil {
		return nil
	}
	text, _ := json.Marshal(u) // two texts can be encoded
	return keys.Seal("user/"+key, text)
}

// openRoomUser is a stored user; nil: there is none, or it cannot be read.
func openRoomUser(keys *auth.Keys, key string, sealed []byte) *RoomUser {
	if sealed == nil {
		return nil
	}
	u := &RoomUser{}
	text, err := keys.Open("user/"+key, sealed)
	if err != nil || json.Unmarshal(text, u) != nil {
		return nil
	}
	return u
}

// made is the user of the room broker that was made with a device; nil: none was.
type made map[string]*override

func (m made) user(deviceID string) *RoomUser {
	if one := m[deviceKey(deviceID)]; one != nil {
		return one.User
	}
	return nil
}

// users are the file's and those that were made, each with the topics of its devices.
func (m made) users(c *config.Config, devices []roombroker.Device) (*config.Config, map[string]string) {
	added, passwords := map[string]*config.User{}, map[string]string{}
	for _, d := range devices {
		u := m.user(d.ID)
		if u == nil || slices.ContainsFunc(c.Broker.Users, func(f config.User) bool { return strings.EqualFold(f.Name, u.Name) }) {
			continue // the file's has its own password and topics
		}
		if added[u.Name] == nil {
			added[u.Name] = &config.User{Name: u.Name, Publish: []string{}, Subscribe: []string{}}
		}
		passwords[u.Name] = u.Password
		for _, a := range accountsOf(d.Options) {
			added[u.Name].Publish = append(added[u.Name].Publish, a.Publish...)
			added[u.Name].Subscribe = append(added[u.Name].Subscribe, a.Subscribe...)
		}
	}
	if len(added) == 0 {
		return c, nil
	}
	with := *c
	with.Broker.Users = slices.Clone(c.Broker.Users)
	for _, name := range slices.Sorted(maps.Keys(added)) {
		with.Broker.Users = append(with.Broker.Users, *added[name])
	}
	return &with, passwords
}

func accountsOf(o drivers.Options) []drivers.Account {
	if at, ok := o.(drivers.AtRoomBroker); ok {
		return at.Accounts()
	}
	return nil
}

// RoomPassword is that of a user of the room broker that was made at run time.
func (s *Site) RoomPassword(name string) (password string, known bool) {
	password, known = s.Now().passwords[name]
	return password, known
}

// voice is the user of the room broker that a device needs to be added with; nil: some
// user may speak for it already, or it is not there.
func (t *Turn) voice(c *Change, id string, name func(drivers.Account) RoomUser) (*RoomUser, error) {
	accounts := accountsOf(c.Next.Device(id).Options)
	broker := t.site.o.Config.Broker
	switch {
	case len(accounts) == 0:
		return nil, nil
	case broker.Listen == "":
		return nil, problem.New(problem.NotNow, "driver", "speaks at the room broker, which is closed: open it on the gateway with sudo roomgate setup, or write broker.listen with a first user into the configuration")
	case !slices.Contains(c.Next.room.Unheard(), id):
		return nil, nil
	}
	u := name(accounts[0])
	if slices.ContainsFunc(broker.Users, func(f config.User) bool { return strings.EqualFold(f.Name, u.Name) }) {
		return nil, problem.New(problem.Conflict, "topic", "is not for user %s of the room broker: write into it in the configuration %s", u.Name, roombroker.Topics{Publish: accounts[0].Publish, Subscribe: accounts[0].Subscribe})
	}
	for _, one := range c.overrides { // the bridge of several devices is one user
		if one.User != nil && strings.EqualFold(one.User.Name, u.Name) {
			u = *one.User
		}
	}
	return &u, nil
}
