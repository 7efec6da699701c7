package roombroker

import (
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/cloud/filter"
)

// guess is what users without lists may say and hear.
type guess struct {
	c        *config.Config
	accounts []account
}

// topics are a user's, without what it has twice.
func (g guess) topics(u config.User) Topics {
	t := Topics{[]string{}, []string{}}
	if g.ownsPrefix(u) {
		t.add(Topics{[]string{u.Name + "/#"}, []string{u.Name + "/#"}})
	}
	for _, d := range g.accounts {
		if d.named(u.Name) || g.alone(d) && g.open(u) && (d.Opens == nil || g.opens() == 1) {
			t.add(Topics{d.Publish, d.Subscribe})
		}
	}
	if g.c.Broker.HomeAssistant.Publish && g.assists(u) {
		t.add(g.assistant(likeHomeAssistant(u.Name) || g.opens() == 1))
	}
	return t
}

// ownsPrefix says whether what begins with a user's name is its own: one who is
// called roomgate or cmnd does not speak for the gateway, nor give orders to all
// Tasmotas.
func (g guess) ownsPrefix(u config.User) bool {
	reaches := func(f string) bool { return filter.Covers(u.Name+"/#", f) }
	return !reaches(Base(g.c.Gateway.ID)) && !slices.ContainsFunc(g.accounts, func(d account) bool {
		return !d.named(u.Name) && (slices.ContainsFunc(d.Says, reaches) || slices.ContainsFunc(d.Subscribe, reaches))
	})
}

// add adds what is not there yet.
func (t *Topics) add(more Topics) {
	for _, f := range more.Publish {
		if !slices.Contains(t.Publish, f) {
			t.Publish = append(t.Publish, f)
		}
	}
	for _, f := range more.Subscribe {
		if !slices.Contains(t.Subscribe, f) {
			t.Subscribe = append(t.Subscribe, f)
		}
	}
}

// unsure says whether there are others that get what a user gets.
func (g guess) unsure(u config.User) bool {
	return g.open(u) && g.opens() > 1 && (slices.ContainsFunc(g.accounts, g.alone) || g.c.Broker.HomeAssistant.Publish && g.assists(u))
}

// alone says whether no user speaks for a device by a list or by its name.
func (g guess) alone(d account) bool {
	return !slices.ContainsFunc(g.c.Broker.Users, func(u config.User) bool {
		return u.Publish != nil && Topics{Publish: u.Publish}.speakFor(d) || u.Publish == nil && d.named(u.Name)
	})
}

// open says whether a user has no list to publish to, and no name that says what
// it is.
func (g guess) open(u config.User) bool {
	return u.Publish == nil && !likeHomeAssistant(u.Name) &&
		!slices.ContainsFunc(g.accounts, func(d account) bool { return d.named(u.Name) })
}

// opens is how many such users there are.
func (g guess) opens() (n int) {
	for _, u := range g.c.Broker.Users {
		if g.open(u) {
			n++
		}
	}
	return n
}

// assists says whether a user may be the Home Assistant.
func (g guess) assists(u config.User) bool {
	named := func(u config.User) bool { return likeHomeAssistant(u.Name) }
	if slices.ContainsFunc(g.c.Broker.Users, named) {
		return named(u)
	}
	return g.open(u)
}

func likeHomeAssistant(user string) bool {
	plain := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(user))
	return slices.Contains([]string{"homeassistant", "hass", "hassio", "ha"}, plain)
}

// assistant is what a Home Assistant needs of the gateway's own. Orders to doors
// are for the one that it certainly is.
func (g guess) assistant(certain bool) Topics {
	h, base := g.c.Broker.HomeAssistant, Base(g.c.Gateway.ID)
	t := Topics{[]string{h.Prefix + "/status"}, []string{h.Prefix + "/#", base + "#"}}
	if h.Commands && (!h.Doors || certain) {
		t.Publish = append(t.Publish, base+"+/set", base+"+/intensity/set")
	}
	return t
}
