package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/roombroker"
)

// RefusedLogIn is a user of the room broker whose password was wrong, as the running gateway says it.
type RefusedLogIn struct {
	User    string    `json:"user"`
	Address string    `json:"address"`
	Times   int       `json:"times"`
	Last    time.Time `json:"last"`
	In      bool      `json:"in"` // somebody has come in as this user, from whatever address
}

// roomUsers says what the lists of the room broker's users lack.
func roomUsers(_ context.Context, x *examination) (found []Finding) {
	const name = "room broker users"
	if x.Config == nil || x.Config.Broker.Listen == "" || len(x.Config.Broker.Users) == 0 {
		return nil
	}
	for _, a := range roombroker.Of(x.Config).Advice() {
		found = append(found, warn(name, a.Seen, a.Fix))
	}
	if found == nil {
		found = one(good(name, "%s, each with its own topics", count(len(x.Config.Broker.Users), "user")))
	}
	return found
}

// roomLogIns names who was refused at the room broker for his password. Where somebody else has come in
// with the right one, a stranger may have guessed.
func roomLogIns(_ context.Context, x *examination) (found []Finding) {
	if x.Building == nil {
		return nil
	}
	for _, r := range x.Building.Refused {
		f := fail("log-in at the room broker", fmt.Sprintf("user %s, from %s, %s with a wrong password, last at %s", r.User, r.Address, count(r.Times, "time"), r.Last.UTC().Format(time.RFC3339)),
			"give what logs in there as "+r.User+" the password of this user"+ownPassword(x, r.User))
		if r.In {
			f.State = Warn
		}
		found = append(found, f)
	}
	return found
}

// ownPassword is where the password of a user of the room broker can be made the one that a device has.
func ownPassword(x *examination, user string) string {
	if x.Config == nil {
		return ""
	}
	i := slices.IndexFunc(x.Config.Broker.Users, func(u config.User) bool { return u.Name == user })
	if i < 0 {
		return ", or remove the device from the console and add it there once more"
	}
	place := fmt.Sprintf("%s as broker.users[%d].password", opened(x, x.ConfigFile), i)
	if file := x.Config.Broker.Users[i].PasswordFile; file != "" {
		place = typedInto(x, cmp.Or(config.CredentialSource(file), file))
	}
	return ", or write the one that it has into " + place + ", then " + x.restart()
}
