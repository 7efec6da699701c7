package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"

	"roomgate/agent/doctor"
)

// reloadTimeout bounds a reload, which the watchdog waits for.
const reloadTimeout = 10 * time.Second

// reloadDone is what is said of a reload that was good.
const reloadDone = "the configuration was reloaded"

// reload reads the configuration again and lets it take effect, whole or not at
// all, and tells systemd and people how it went (sd_notify(3), "RELOADING=1").
func (g *gateway) reload(ctx context.Context) error {
	g.tell(daemon.SdNotifyReloading + "\n" + monotonic())
	status := reloadDone
	err := g.reloaded(ctx)
	if err != nil {
		status = "the configuration was not reloaded: " + err.Error()
		g.log.Error("the changed configuration is not used, the one before stays", "error", err)
	} else {
		g.log.Info(status)
	}
	g.tell(daemon.SdNotifyReady + "\nSTATUS=" + oneLine(status))
	return err
}

func (g *gateway) reloaded(ctx context.Context) error {
	if g.again == nil {
		return fmt.Errorf("a demo reads its configuration once: end it, and start it again")
	}
	c, err := g.again()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	return g.agent.Reload(ctx, c)
}

// pending is what the file says and the gateway does not do. A file with mistakes is
// refused, as a reload would be.
func pending(ctx context.Context, g *gateway) (p doctor.Pending, err error) {
	if g.again == nil {
		return p, fmt.Errorf("a demo has no file that could have changed")
	}
	c, err := g.again()
	if err != nil {
		return p, err
	}
	turn, err := g.agent.Site.Turn(ctx)
	if err != nil {
		return p, err
	}
	defer turn.End()
	p.Restart = turn.File().Restart(c)
	p.Changed = p.Restart != "" || turn.File().Reloads(c)
	return p, nil
}

// pendingDoor answers GET /reload.
func pendingDoor(g *gateway) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := pending(r.Context(), g)
		answerDoor(w, p, err)
	}
}

// monotonic is the time that systemd compares with when it asked.
func monotonic() string {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return ""
	}
	return fmt.Sprintf("MONOTONIC_USEC=%d", t.Nano()/1000)
}

// oneLine is the first line of a text, with a hint that there is more.
func oneLine(text string) string {
	for i, c := range text {
		if c == '\n' {
			return text[:i] + " ..."
		}
	}
	return text
}
