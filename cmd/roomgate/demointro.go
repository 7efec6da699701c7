package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"roomgate/agent/device"
	"roomgate/agent/site"
	"roomgate/drivers"
	"roomgate/drivers/sim"
)

// takenAddresses refuses a demo whose addresses are in use, which another demo or the
// brokers of this machine may have, with all of them at once. One that somebody has chosen
// is his.
func takenAddresses(cmd *cobra.Command) error {
	var taken, others []string
	chosen := false
	_, _, elsewhere := given(cmd.Flags(), "cloud")
	_, _, configured := given(cmd.Flags(), "config")
	for _, a := range []struct{ name, flag, usual string }{
		{"http", "listen", demoListen}, {"room broker", "broker", demoBroker}, {"cloud broker", "cloud-listen", demoCloudListen},
	} {
		address, _, named := given(cmd.Flags(), a.flag)
		if a.flag == "cloud-listen" && elsewhere || !named && configured {
			continue // it is not opened, or where another file says
		}
		if !named {
			address = a.usual
		}
		l, err := net.Listen("tcp", address)
		if err == nil {
			err = l.Close()
		}
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			taken, others = append(taken, a.name+" "+address), append(others, "--"+a.flag+" 127.0.0.1:0")
			chosen = chosen || named
		case named:
			others = append(others, "--"+a.flag+" "+address)
		}
	}
	if len(taken) == 0 || len(taken) == 1 && chosen {
		return nil // who listens says it
	}
	return fail(exitFailed, "%s", inUse(program(), taken, others))
}

// inUse says which addresses are taken, and the whole line that chooses others. Several are
// most often those of another demo, which has the folder, too.
func inUse(program string, taken, others []string) string {
	if len(taken) == 1 {
		return fmt.Sprintf("an address is in use: %s: stop what listens there, or let the system choose another: %s demo %s", taken[0], program, strings.Join(others, " "))
	}
	return fmt.Sprintf("addresses are in use: %s: stop what listens there, or let the system choose others, with a folder for a second demo: %s demo %s --data demo2",
		strings.Join(taken, ", "), program, strings.Join(others, " "))
}

// noUpdates answers who brings a demo an update.
var noUpdates = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	answerDoor(w, nil, errors.New("a demo takes no updates, it is the program that you have started: end it, and start the other program"))
})

// introduce shows a newcomer around.
func (g *gateway) introduce(cmd *cobra.Command, world *sim.World) {
	g.say("\nmeeting spaces of gateway %s", g.config.Gateway.ID)
	for _, s := range g.agent.Site.Spaces() {
		var types []string
		for _, d := range s.Devices {
			types = append(types, d.Type)
		}
		g.say("  %-9s %s  %s", s.Name, s.ID, strings.Join(types, " "))
	}
	if len(g.agent.Site.Spaces()) == 0 {
		g.say("  no meeting space yet: write one into the file of --config, or add one in the console")
	}
	if len(g.config.Users) > 0 {
		g.say("\nwho may sign in")
	}
	for _, u := range g.config.Users {
		g.say("  %-22s %s", u.Email, u.Role)
	}
	g.say("\ntry in a second terminal")
	for _, line := range append(firstLines(g.agent.Site.Spaces(), world.Movable()), "sim", "sim letters") {
		g.say("  %s %s%s", program(), line, dataFlag(cmd))
	}
	g.say("")
}

// firstLines are what can be typed about the first meeting space, as far as it has a lock
// and the simulated building has a thermometer for it.
func firstLines(spaces []*site.Space, movable []string) (lines []string) {
	if len(spaces) == 0 {
		return nil
	}
	lower := strings.ToLower(spaces[0].Name)
	name := lower
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }) {
		name = spaces[0].ID // a shell would take the name apart
	}
	lines = append(lines, "device status "+name)
	if slices.ContainsFunc(spaces[0].Devices, func(d *device.Device) bool { return d.Type == drivers.TypeLock }) {
		lines = append(lines, "device action "+name+" lock open")
	}
	if slices.ContainsFunc(movable, func(m string) bool { return strings.HasPrefix(m, lower+" temperature:") }) {
		lines = append(lines, "sim "+name+" temperature 31.5")
	}
	return lines
}

// showPages shows what a browser opens.
func (g *gateway) showPages() {
	code := g.agent.Access.Console.Lasting()
	g.say("\nopen the console, in a browser\n  %s/console#code=%s", g.demo.at, code)
	if len(g.agent.Site.Spaces()) > 0 {
		g.say("\nopen at the doors, in a browser")
	}
	for _, s := range g.agent.Site.Spaces() {
		if code, err := g.agent.Edges.LastingCode(s.ID); err == nil { // the space is there
			g.say("  %-9s %s/display/%s#code=%s", s.Name, g.demo.at, s.ID, code)
		}
	}
	g.say("")
}

// dataFlag is what the other commands need to find this demo.
func dataFlag(cmd *cobra.Command) string {
	if !cmd.Flags().Changed("data") { // the variable serves them too
		return ""
	}
	return " --data " + text(cmd, "data")
}
