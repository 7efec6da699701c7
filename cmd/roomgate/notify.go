package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"roomgate/cmd/roomgate/show"
)

// readyPoll is how often readiness is looked at.
const readyPoll = 50 * time.Millisecond

// progressPoll is how often progress is looked at where no watchdog asks.
const progressPoll = 10 * time.Second

// notify tells systemd when the gateway is ready and that it still moves, and
// people the same. Without systemd it only does the latter.
func (g *gateway) notify(ctx context.Context) error {
	for g.agent.Health.Ready() != nil {
		if !sleep(ctx, readyPoll) {
			return nil
		}
	}
	g.tell(daemon.SdNotifyReady)
	g.say("ready")
	defer g.tell(daemon.SdNotifyStopping)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		g.log.Warn("the watchdog's interval cannot be read, it is not fed", "error", err)
	}
	if every == 0 {
		every = 2 * progressPoll
	}
	alive := time.NewTicker(every / 2)
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangup:
			_ = g.reload(ctx) // it has logged the result
		case <-alive.C:
			g.feed()
		}
	}
}

// feed tells the watchdog, if there is one, that the gateway moves, if it does.
func (g *gateway) feed() {
	if err := g.agent.Health.Progress(); err != nil {
		g.log.Error("no progress", "error", err)
		return
	}
	g.tell(daemon.SdNotifyWatchdog)
}

func (g *gateway) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		g.log.Warn("systemd could not be told", "state", state, "error", err)
	}
}

// sleep is false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// startPatience is for how long from now systemd is asked to wait for the start, each time the check of the database
// has moved on: longer than a disk that still answers takes for the next piece.
const startPatience = 2 * time.Minute

// checking tells systemd, and the log, that the start goes on while the database is checked, however slow the disk is.
func (g *gateway) checking() func(done, total int64) {
	began := time.Now()
	next := began.Add(time.Second)
	logged := began
	return func(done, total int64) {
		now := time.Now()
		if now.Before(next) {
			return
		}
		next = now.Add(time.Second)
		said := show.Share("the database is checked", done, total)
		g.tell(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d\nSTATUS=%s", startPatience.Microseconds(), said))
		if now.Sub(logged) >= show.ProgressEveryLog {
			logged = now
			g.log.Info(said)
		}
	}
}
