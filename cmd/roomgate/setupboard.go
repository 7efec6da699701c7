package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/cloud"
	"roomgate/drivers/camera"
	"roomgate/drivers/host"
	"roomgate/drivers/o3"

	"roomgate/cmd/roomgate/show"
)

// wizard leads through a setup.
type wizard struct {
	*show.Terminal
	memory
	cmd       *cobra.Command
	options   setup.Options
	found     setup.Board
	foundHubs []o3.Found
	known     config.Config // what is configured

	// What is left of the board, and what this round of questions has come to.
	board setup.Board
	hubs  []o3.Found
	zone  string            // the last one given
	uses  boardUses         // what of the board its answers take
	users []roomUser        // of the room broker
	made  map[string]string // their passwords by name, the same in each round

	refuses func(address, user, password string) (answers, refuses bool) // asks a hub
	camera  func(camera.Options) (answers, refuses bool)                 // asks a network camera
	knows   func(config.Cloud, string) cloud.Trouble                     // asks the cloud's broker, as the gateway with this id
}

// look finds what the board has, and says so.
func (w *wizard) look() {
	w.found = lookAtBoard(w.cmd.Context())
	w.found.Release(host.Consumer)
	if flagged(w.cmd, "scan") {
		w.scan()
	}
	w.show()
}

func boardLines(board *host.Board) func() ([]setup.Line, error) {
	return func() (all []setup.Line, err error) {
		for _, c := range board.Chips() {
			if c.Err != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", c.Path, c.Err))
			}
			for _, l := range c.Lines {
				line := setup.Line{Name: l.Name, Chip: c.Label}
				if l.Used {
					line.Used = setup.InUseBy(show.Dash(l.User))
				}
				all = append(all, line)
			}
		}
		return all, err
	}
}

// scan looks for hubs in the networks of this machine.
func (w *wizard) scan() {
	board := host.New()
	defer board.Close()
	networks, err := net.InterfaceAddrs()
	if err != nil {
		w.found.Wrong = append(w.found.Wrong, err.Error())
	}
	addresses := o3.Neighbours(networks)
	fmt.Fprintf(w.Out, "looking for O3 hubs at %s of this machine's networks\n", show.Count(len(addresses), "address"))
	ctx, cancel := context.WithTimeout(w.cmd.Context(), scanTime)
	defer cancel()
	w.foundHubs = o3.Find(ctx, board, addresses)
}

// show says what was found, a kind to a line.
func (w *wizard) show() {
	b := w.found
	row := func(what string, found []string, none string) {
		list := strings.Join(found, " ")
		if list == "" {
			list = none
		}
		fmt.Fprintf(w.Out, "%-9s%s\n", what, show.Plain(list))
	}
	name := b.Model
	if name == "" {
		name = "not a board with a device tree: lines and buses are taken as you name them"
	}
	row("board", []string{name}, "")
	row("lines", b.Lines, "none free")
	if len(b.Ours) > 0 {
		row("ours", b.Ours, "")
	}
	row("channels", b.Channels, "none: on a Raspberry Pi dtoverlay=pwm-2chan in config.txt")
	row("buses", b.Buses, "none: on a Raspberry Pi dtparam=i2c_arm=on in config.txt")
	for _, c := range b.Chips {
		row("chip", []string{c.String()}, "")
	}
	row("ports", b.Ports, "none: on a Raspberry Pi dtparam=spi=on in config.txt")
	for _, c := range b.Cameras {
		row("camera", []string{c.Path, c.Name}, "")
	}
	if len(w.foundHubs) == 0 {
		none := "none answered in this machine's networks"
		if !flagged(w.cmd, "scan") {
			none = "not looked for: setup --scan does"
		}
		row("hubs", nil, none)
	}
	for _, h := range w.foundHubs {
		switch {
		case h.Hub:
			row("hub", []string{h.Address, "reports as an O3. WARNING: it still has its factory password, change it"}, "")
		case h.Refused:
			row("broker", []string{h.Address, "takes another password than an O3's from the factory: perhaps a hub"}, "")
		}
	}
	for _, wrong := range b.Wrong {
		row("wrong", []string{wrong}, "")
	}
	if os.Geteuid() != 0 {
		row("note", []string{"not run as root: rows that only root may see are missing above"}, "")
	}
}
