package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"roomgate/agent"
	"roomgate/agent/api"
	"roomgate/agent/backup"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/standin"
	"roomgate/agent/tlsauthority"
	"roomgate/cloud/broker"
	"roomgate/drivers"

	"roomgate/cmd/roomgate/show"
)

// gateway is a started gateway: what it holds, in the order in which it was
// opened, and the loops that move it.
type gateway struct {
	config *config.Config
	buses  drivers.Buses
	extra  map[string]http.Handler // of the control socket
	// figures are those that the agent does not have; nil: none.
	figures func(io.Writer)
	// configuration is the one that backups take.
	configuration func() (backup.Config, error)
	out           io.Writer // for people
	log           *slog.Logger
	demo          demoParts
	released      bool                           // was started as a release, not as the package
	hardware      string                         // names this machine; empty: a demo, which has none
	again         func() (*config.Config, error) // reads the configuration once more; nil: there is no file
	file          string                         // that the configuration is from; empty: it is built in
	end           func()                         // ends it in order; nil: it takes no updates

	agent *agent.Agent
	room  *broker.Broker // the room broker; nil: there is none
	// authority is the building's own; nil: no door uses one.
	authority *tlsauthority.Keeper
	loops     []loop // end first
	// settle waits, after the brokers and before the loops, for what the loops count on;
	// nil: they begin at once.
	settle  func(context.Context)
	brokers []loop // end when the loops have ended, so that goodbyes arrive
	closers []func() error
}

// demoParts are what only a demo has.
type demoParts struct {
	simulated      bool             // the buses lead to no hardware
	outside        *slog.Logger     // tells what the world outside gets, also of a quiet demo
	cloud          *standin.Cloud   // nil without a stand-in cloud
	wire           wire             // to the cloud
	webhooks, push *http.Client     // reach what a demo has of them; nil: the network does
	received       received         // by the stand-in receiver of webhooks
	loopback       bool             // webhooks and calendars may reach this machine
	mailbox        *standin.Mailbox // nil: the configuration names a relay
	at             string           // where a browser on this machine finds its pages
}

// loop is one of the things that a gateway does all the time.
type loop struct {
	name string
	run  func(context.Context) error
}

// open takes everything that a gateway needs. What it took before an error is
// closed.
func (g *gateway) open(ctx context.Context, lock *os.File, socketDir string, mode os.FileMode) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	control, err := openSocket(socketDir, lock, mode)
	if err != nil {
		return err
	}
	g.closers = append(g.closers, control.Close)
	if err := g.mend(); err != nil {
		return err
	}
	if err := g.openRoomBroker(); err != nil {
		return err
	}
	doors, err := g.listen()
	if err != nil {
		return err
	}
	if err := g.openAgent(ctx); err != nil {
		return err
	}
	means := errands{g}.all()
	if g.end != nil {
		if means.Updates, err = g.openUpdates(g.end); err != nil {
			return err
		}
	}
	examined := newExaminer(g)
	server := api.New(api.Options{Findings: examined.findings, Errands: means, Machine: machineOf(g), Agent: g.agent, Log: g.log, Version: version, Origins: g.config.HTTP.Origins,
		Names: g.config.HTTP.Names, ShowClaim: g.demo.simulated, Extra: g.extraDoors(), Metrics: g.figures, Root: g.root()})
	g.loops = append(g.loops,
		loop{"agent", g.agent.Run},
		loop{"console", server.Run},
		loop{"examiner", examined.run},
		loop{"control socket", func(ctx context.Context) error { return server.Serve(ctx, control, server.Control()) }},
		loop{"systemd", g.notify})
	for _, d := range doors {
		g.loops = append(g.loops, d.served(server))
	}
	if socketDir != g.config.Data { // a service, whose runtime directory the screen's getty reads
		asked := control.Addr().String()
		g.loops = append(g.loops, loop{"attached screen", screen{claim: g.agent.Claim, name: g.config.Gateway, path: filepath.Join(socketDir, screenFile), log: g.log,
			page: func() string { return g.agent.Health.Network().Page("/") }, failing: func(ctx context.Context) int { return failing(ctx, g, asked) }}.run})
	}
	g.say("control socket %s", control.Addr())
	return nil
}

// extraDoors are what only the control socket has.
func (g *gateway) extraDoors() map[string]http.Handler {
	all := g.backupDoors()
	all["GET /reload"] = pendingDoor(g)
	all["POST /reload"] = http.HandlerFunc(g.takeReload)
	all["POST /claim/show"] = http.HandlerFunc(g.showClaimDoor)
	all["POST /console/code"] = http.HandlerFunc(g.consoleDoor)
	all["GET /room-broker/refused"] = tellRefused(g)
	all["GET /log/verify"] = http.HandlerFunc(g.verifyLog)
	all["GET /clock"] = http.HandlerFunc(g.tellClock)
	all["POST /clock"] = http.HandlerFunc(g.takeClock)
	all["POST /store/confirm"] = http.HandlerFunc(g.confirmRepair)
	for at, what := range map[string]string{"POST /sim": "a simulated building", "GET /letters": "letters", "GET /received": "a receiver of webhooks"} {
		all[at] = onlyDemo(what)
	}
	maps.Copy(all, g.extra)
	return all
}

// ignore drops an error that is no news.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// say prints a line for people.
func (g *gateway) say(format string, args ...any) {
	fmt.Fprintln(g.out, show.PlainLines(fmt.Sprintf(format, args...)))
}

// openBroker starts a broker.
func (g *gateway) openBroker(name, flag string, o broker.Options) (*broker.Broker, error) {
	b, err := broker.Open(o)
	if err != nil {
		return nil, cannotListen(name, o.Listen, saidBy(g, flag), err)
	}
	g.brokers = append(g.brokers, loop{name, b.Run})
	g.closers = append(g.closers, b.Close)
	scheme := "mqtt"
	if o.TLS != nil {
		scheme = "mqtts"
	} else if !b.Addr().(*net.TCPAddr).IP.IsLoopback() {
		g.log.Warn(name+" is open to the network without tls, its passwords travel in the clear: set broker.tls", "address", b.Addr().String())
	}
	g.say("%s listening on %s://%s", name, scheme, b.Addr())
	return b, nil
}

// saidBy is what has said where to listen, a flag or a key: who reads the journal of a
// service has no flag to give.
func saidBy(g *gateway, flag string) string {
	key := map[string]string{"listen": "http.listen", "broker": "broker.listen"}[flag]
	if key == "" || g.config == nil {
		return flag
	}
	o, ok := g.config.Origin(key)
	switch {
	case o.Line > 0:
		return key + " in " + o.Name
	case ok || g.demo.simulated:
		return flag
	}
	return key + " in " + g.file
}

// cannotListen says which flag or key of the configuration helps.
func cannotListen(name, address, flag string, err error) error {
	if !strings.Contains(flag, ".") {
		flag = "--" + flag
	}
	var network *net.OpError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fail(exitFailed, "%s address %s is in use: stop what listens there, or choose another with %s", name, address, flag)
	case errors.Is(err, syscall.EACCES):
		return fail(exitConfig, "%s cannot listen on %s: a port below %d takes a right that this process does not have: choose another with %s", name, address, firstFreePort(), flag)
	case errors.As(err, &network):
		return fail(exitFailed, "%s cannot listen on %s: %w: choose another address with %s", name, address, err, flag)
	}
	return fail(exitConfig, "%s: %w", name, err)
}

func (g *gateway) openAgent(ctx context.Context) (err error) {
	g.agent, err = agent.Open(ctx, agent.Options{Config: g.config, Buses: g.buses, DataDir: g.config.Data, Progress: g.checking(),
		SystemKey: os.Getenv("ROOMGATE_SYSTEM_KEY"), Version: version, NotStarted: g.passedOver(), Simulated: g.demo.simulated, Hardware: g.hardware, Machine: clock.This(), Log: g.log, Dial: g.dial(),
		Webhooks: g.demo.webhooks, Push: g.demo.push, AllowLoopback: g.demo.loopback})
	if err != nil {
		return withMend(err, g.config.Data)
	}
	g.closers = append(g.closers, g.agent.Close)
	return nil
}

// dial is how the cloud is reached; nil: as usual.
func (g *gateway) dial() agent.Dialer {
	if !g.demo.simulated {
		return nil
	}
	return g.demo.wire.dial
}

// run moves the gateway until ctx ends or something that it cannot do without
// fails.
func (g *gateway) run(ctx context.Context) error {
	below, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	brokers, below := errgroup.WithContext(below)
	for _, l := range g.brokers {
		brokers.Go(func() error { return l.named(below) })
	}
	if g.settle != nil {
		g.settle(ctx)
	}
	loops, ctx := errgroup.WithContext(ctx)
	for _, l := range g.loops {
		loops.Go(func() error { return l.named(ctx) })
	}
	loops.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-below.Done(): // without its brokers the gateway is not whole
			return context.Cause(below)
		}
	})
	err := loops.Wait()
	stop()
	return errors.Join(err, ignore(brokers.Wait(), err))
}

// named runs the loop. A loop has no business ending before ctx.
func (l loop) named(ctx context.Context) error {
	err := l.run(ctx)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	return fmt.Errorf("%s: %w", l.name, err)
}

// close gives back what was opened, the last first.
func (g *gateway) close() (err error) {
	for i := len(g.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, g.closers[i]())
	}
	g.closers = nil
	return err
}
