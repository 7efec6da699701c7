package main

import (
	"context"
	"net"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/doctor"
	"roomgate/agent/problem"
	"roomgate/agent/setup"
	"roomgate/drivers/all"
	"roomgate/drivers/host"
	"roomgate/drivers/o3"
	"roomgate/drivers/parts"
)

// judgeTime bounds how long the drivers may take to say what they need of a board.
const judgeTime = 5 * time.Second

// machine is what the console adds devices to. A demo has no board and no hubs.
func machineOf(g *gateway) setup.Machine {
	m := setup.Machine{Kinds: all.All(), Judge: judgeOf(g.config)}
	if !g.demo.simulated {
		m.Look, m.Hubs = lookAtBoard, findHubs
	}
	return m
}

// lookAtBoard finds what the board of this machine has.
func lookAtBoard(ctx context.Context) setup.Board {
	board := host.New()
	defer board.Close()
	var models []setup.Model
	for _, m := range parts.Models() {
		models = append(models, setup.Model(m))
	}
	return setup.Look(ctx, setup.Place{Root: "/", Lines: boardLines(board), Buses: board, Models: models})
}

// findHubs looks for O3 hubs in the networks of this machine.
func findHubs(ctx context.Context) (all []string) {
	networks, err := net.InterfaceAddrs()
	if err != nil {
		return nil // a machine that does not tell its networks has none to look in
	}
	board := host.New()
	defer board.Close()
	for _, h := range o3.Find(ctx, board, o3.Neighbours(networks)) {
		all = append(all, h.Address)
	}
	return all
}

// judgeOf refuses what of a building no gateway can do, as check-config does for a file.
func judgeOf(file *config.Config) func(context.Context, []config.Space) error {
	return func(ctx context.Context, spaces []config.Space) error {
		c := *file
		c.Spaces = spaces
		for _, i := range doctor.WithoutBoard(ctx, &c, judgeTime) {
			return problem.New(problem.Invalid, "options", "of %s: %q %s", i.Device, i.Name, i.Why)
		}
		return nil
	}
}
