package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"roomgate/agent/config"
	"roomgate/agent/doctor"
)

// cannotWork is what of a valid configuration no gateway can do: a gateway starts with
// it, and is not what somebody meant. Places are those of the file, if it has any.
func cannotWork(ctx context.Context, c *config.Config, file string) error {
	var all []config.Problem
	note := func(key, message string) {
		p := config.Problem{Key: key, Message: key + " " + message}
		if o, ok := c.Origin(key); ok {
			p.File, p.Line, p.Column = o.Name, o.Line, o.Column
		}
		all = append(all, p)
	}
	for _, i := range doctor.WithoutBoard(ctx, c, checkTime) {
		note(c.Naming(i.Device, i.Name), fmt.Sprintf("is %q, which %s", i.Name, i.Why))
	}
	for _, key := range slices.Sorted(maps.Keys(c.Listens())) {
		if listen := c.Listens()[key]; privileged(listen) && !mayListen(ctx, file) {
			note(key, fmt.Sprintf("is %q: a port below %d takes a right that the gateway does not have: want one as :8080, or give it CAP_NET_BIND_SERVICE by systemctl edit roomgate, as AmbientCapabilities and CapabilityBoundingSet", listen, firstFreePort()))
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b config.Problem) int { return a.Line - b.Line })
	return &config.Errors{Problems: all}
}

// withBoard adds to what loading has found what no gateway can do. Of a copied space both are told at once.
func withBoard(ctx context.Context, c *config.Config, file string, err error) error {
	var found, more *config.Errors
	if err == nil {
		if e := cannotWork(ctx, c, file); e != nil {
			return &fault{exitConfig, e}
		}
		return nil
	}
	if !errors.As(err, &found) {
		return err
	}
	if copied := found.Copied(); copied != nil && errors.As(cannotWork(ctx, copied, file), &more) {
		found.Problems = append(found.Problems, more.Problems...)
		slices.SortStableFunc(found.Problems, func(a, b config.Problem) int { return a.Line - b.Line })
	}
	return err
}

// firstFreePort is the first port for which nobody needs a right (ip(7)).
func firstFreePort() int {
	raw, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if n, e := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil && e == nil {
		return n
	}
	return 1024
}

func privileged(listen string) bool {
	_, port, err := net.SplitHostPort(listen)
	n, e := strconv.Atoi(port)
	return err == nil && e == nil && n > 0 && n < firstFreePort()
}

// mayListen says whether the gateway of a file may take a port below that: the service
// for its own file, else who asks.
func mayListen(ctx context.Context, file string) bool {
	if file == defaultConfig {
		if s := askService(ctx); s.Loaded {
			return s.MayListen()
		}
	}
	var header = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_NET_BIND_SERVICE) != 0
}

// impossible finds the names that no board can serve, in a configuration for another machine.
func impossible(ctx context.Context) func(*config.Config) []config.Problem {
	return func(c *config.Config) (all []config.Problem) {
		for _, i := range doctor.WithoutBoard(ctx, c, checkTime) {
			key := c.Naming(i.Device, i.Name)
			all = append(all, config.Problem{Key: key, Message: fmt.Sprintf("%s is %q, which %s", key, i.Name, i.Why)})
		}
		return all
	}
}
