package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"roomgate/agent/standin"
	"roomgate/drivers/sim"

	"roomgate/cmd/roomgate/show"
)

// simDoor lets the control socket move the world: the building's devices, the
// line to its cloud, and the time.
func (g *gateway) simDoor(w *sim.World) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		var o simCommand
		err := json.NewDecoder(io.LimitReader(r.Body, 4<<10)).Decode(&o)
		var message string
		switch {
		case err != nil:
		case o.Subject == "":
			message, err = movable(w, o.Space)
		case o.Space == "cloud":
			message, err = g.simCloud(o.Subject)
		case o.Space == "clock":
			message, err = g.simClock(append([]string{o.Subject}, o.Args...))
		default:
			message, err = w.Control(o.Space, o.Subject, o.Args...)
		}
		answerDoor(answer, simAnswer{message}, err)
	})
}

// movable says what can be moved, of one space if it is named.
func movable(w *sim.World, space string) (string, error) {
	all := append(w.Movable(), "cloud: cut, mend", "clock: TIME, +LENGTH, jump TIME, real")
	if space == "" {
		return strings.Join(all, "\n"), nil
	}
	if of := slices.DeleteFunc(slices.Clone(all), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		name, _, _ = strings.Cut(name, " ")
		return name != strings.ToLower(space)
	}); len(of) > 0 {
		return strings.Join(of, "\n"), nil
	}
	_, err := w.Control(space, "nothing") // which says what there is
	return "", err
}

// simCloud cuts or mends the line to the cloud.
func (g *gateway) simCloud(what string) (string, error) {
	switch what {
	case "cut", "mend":
		g.demo.wire.set(what == "cut")
		if what == "cut" {
			return "cloud: the line is cut", nil
		}
		return "cloud: the line is mended", nil
	}
	return "", fmt.Errorf("%q is nothing that happens to the cloud: want cut or mend", what)
}

// simClock sets the building's schedule ahead: to the next moment at which the
// clock of its first space shows a time, by a length, or back to the real time.
// After "jump" the building does not live through that.
func (g *gateway) simClock(words []string) (string, error) {
	word, jumps := words[0], len(words) == 2 && words[0] == "jump"
	if jumps {
		word = words[1]
	}
	spaces := g.agent.Site.Spaces()
	if len(spaces) == 0 {
		return "", errors.New("there is no meeting space yet, and the clock to move is that of the first one: add one")
	}
	zone, err := time.LoadLocation(spaces[0].Config.Timezone)
	if err != nil {
		return "", err
	}
	c := show.Clock{Zone: zone, Now: g.agent.Now()}
	to, past := time.Now(), ""
	if word != "real" {
		if to, err = c.At(word, c.Today()); err == nil && !jumps && to.Before(c.Now) {
			before := to
			if to, err = c.At(word, c.Today().Add(1)); err == nil && to.After(before) {
				past = fmt.Sprintf("\n%s of %s is past: this is the next day", word, c.Now.In(zone).Format("Mon 2 Jan"))
			}
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w, or real", err)
	}
	if err := g.agent.MoveClock(time.Until(to).Truncate(time.Second)+time.Second, jumps); err != nil {
		return "", err
	}
	g.demo.outside.Info("the clock of the rooms was moved: lines of this log begin with the time of this machine", "rooms", g.agent.Now().In(zone).Format(time.RFC3339))
	if v := g.agent.Health.Report().Clock; v.JumpS != 0 {
		return fmt.Sprintf("clock: it shows %s, which is not believed until it is confirmed (roomgate clock confirm) or real again",
			v.Now.In(zone).Format("Mon 2 Jan 2006 15:04")), nil
	}
	return fmt.Sprintf("clock: it is %s in %s%s", g.agent.Now().In(zone).Format("Mon 2 Jan 15:04"), zone, past), nil
}

// cloudDoor lets the control socket change the stand-in cloud's schedule.
func (g *gateway) cloudDoor() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var wanted standin.Request
		err := json.NewDecoder(io.LimitReader(r.Body, 16<<10)).Decode(&wanted)
		var answer standin.Schedule
		if err == nil {
			answer, err = g.demo.cloud.Apply(wanted, g.agent.Now().UTC().Truncate(time.Millisecond))
		}
		answerDoor(w, answer, err)
	})
}
