package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"roomgate/agent/backup"
	"roomgate/agent/config"
	"roomgate/agent/journal"
	"roomgate/agent/standin"
	"roomgate/cloud"
	"roomgate/cloud/broker"
	"roomgate/configs"
	"roomgate/drivers/all"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/plan"
)

const demoHelp = `Runs a simulated building in one process: two meeting spaces with every type of
device, an embedded room broker, and a stand-in cloud with a backend that takes
what the building sends. The drivers are the real ones, on simulated chips.

Three more of the outside world are in it. https://receiver.demo/ takes webhook
notifications, with /status/500 it answers that, and "roomgate sim receiver"
shows them with their headers. A stand-in push gateway shows the messages to
mobile devices. A mailbox takes letters, such as those with one-time passwords.
The log shows what these three receive, and errors; --verbose shows all of it.
With --allow-loopback webhooks and calendars may also be on this machine, then
without TLS too.

With --config it is your own building, on the simulated hardware of the demo: what
its devices name as lines, buses and addresses must be in configs/demo-world.yaml,
as in configs/demo.yaml, and any other is offline. Its clock is believed from the
start, unless clock.trust in the configuration says otherwise.

Without --data it starts afresh each time, where the other commands find it by
themselves. With --data it keeps what it has, and the other commands want the
same --data. With --cloud it starts no stand-in cloud.`

// The addresses of the demo unless told otherwise.
const (
	demoListen      = "127.0.0.1:8080"
	demoBroker      = "127.0.0.1:1883"
	demoCloudListen = "127.0.0.1:1884"
)

// allowLoopback is the flag that only a demo has: on a gateway, anybody who may
// register a webhook would be let in to what listens to this machine alone.
const allowLoopback = "allow-loopback"

// verbose is the flag of a demo that shows its whole log.
const verbose = "verbose"

func newDemo() *cobra.Command {
	cmd := &cobra.Command{Use: "demo", Short: "run a simulated building with a stand-in cloud", Long: demoHelp,
		Args: cobra.NoArgs, RunE: action(runDemo)}
	gatewayFlags(cmd)
	cmd.Flags().String("cloud-listen", demoCloudListen, withVariable("`HOST:PORT` of the stand-in cloud's broker", "cloud-listen"))
	cmd.Flags().Bool(allowLoopback, false, withVariable("let webhooks and calendars reach this machine", allowLoopback))
	cmd.Flags().Bool(verbose, false, withVariable("show the whole log", verbose))
	return cmd
}

func runDemo(cmd *cobra.Command, _ []string) (err error) {
	if _, err := heard(cmd.Context(), func() (*config.Config, error) { return demoConfig(cmd, "mqtt://"+demoCloudListen) }); err != nil { // before anything listens
		return err
	}
	if err := takenAddresses(cmd); err != nil {
		return err
	}
	g := demoGateway(cmd)
	defer journal.Flush(g.log)
	defer journal.Flush(g.demo.outside)
	defer func() { err = errors.Join(err, g.close()) }()
	g.say("roomgate demo: a simulated building")
	world, err := openWorld(g)
	if err != nil {
		return err
	}
	if err := openOutside(cmd, g); err != nil {
		return err
	}
	lock, err := demoData(g.config)
	if err != nil {
		return err
	}
	if err := g.open(cmd.Context(), lock, g.config.Data, 0o600); err != nil {
		return err
	}
	if text(cmd, "config") == "" {
		if err := nameCompany(cmd.Context(), g); err != nil {
			return err
		}
	}
	g.introduce(cmd, world)
	g.showKey(cmd.Context())
	g.showClaim(dataFlag(cmd))
	g.showPages()
	return g.run(cmd.Context())
}

// demoGateway is a gateway with the logs of a demo.
func demoGateway(cmd *cobra.Command) *gateway {
	o := journal.Options{Stderr: cmd.ErrOrStderr(), People: true}
	g := &gateway{out: cmd.OutOrStdout()}
	g.demo.outside = journal.New(o)
	whole, _ := cmd.Flags().GetBool(verbose)
	o.Quiet = !whole
	g.log = journal.New(o)
	slog.SetDefault(g.log) // what libraries say goes there too
	return g
}

// openWorld gives a gateway simulated hardware, and the doors of the control socket that only a demo has.
func openWorld(g *gateway) (*sim.World, error) {
	world, err := plan.Parse(configs.DemoWorld)
	if err != nil {
		return nil, err
	}
	g.closers = append(g.closers, func() error { world.Close(); return nil })
	g.demo.simulated = true
	g.buses, g.extra = world, map[string]http.Handler{"POST /sim": g.simDoor(world), "GET /letters": lettersDoor(g), "GET /received": g.receivedDoor(),
		"GET /update": noUpdates, "POST /update": noUpdates, "POST /update/now": noUpdates}
	return world, nil
}

// openOutside reads the configuration and opens what stands for the outside world: cloud, mail relay, receivers.
func openOutside(cmd *cobra.Command, g *gateway) (err error) {
	cloudURL := "" // there is another cloud
	if _, _, ok := given(cmd.Flags(), "cloud"); !ok {
		if cloudURL, err = g.openCloudBroker(text(cmd, "cloud-listen")); err != nil {
			return err
		}
	}
	if g.config, err = demoConfig(cmd, cloudURL); err != nil {
		return err
	}
	g.configuration = func() (backup.Config, error) {
		if path := text(cmd, "config"); path != "" {
			return backupConfig(path)
		}
		return backup.Config{Text: configs.Demo}, nil
	}
	if err := openMailbox(g); err != nil {
		return err
	}
	if cloudURL != "" {
		if err := g.openStandIn(cloudURL, g.config.Gateway.ID); err != nil {
			return err
		}
		g.extra["POST /cloud/schedule"] = g.cloudDoor()
		g.extra["GET /cloud"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			answerDoor(w, map[string]string{"url": cloudURL}, nil)
		})
	}
	g.demo.loopback, _ = cmd.Flags().GetBool(allowLoopback)
	g.demo.webhooks = receiverClient(g.config.Webhooks.Policy(g.demo.loopback), g.demo.outside, &g.demo.received)
	if g.config.Push.URL == "https://"+demoPush {
		g.demo.push = telephoneClient(g.demo.outside)
	}
	return nil
}

// nameCompany gives the organization of the demo's spaces a name, unless somebody has.
func nameCompany(ctx context.Context, g *gateway) error {
	for _, s := range g.config.Spaces {
		o, err := g.agent.Access.Organization(s.CustomerID)
		if err == nil && o.Name == o.ID {
			_, err = g.agent.Access.CreateOrganization(ctx, o.ID, "Demo company")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// demoConfig is the demo's own configuration unless a file is named. cloudURL is
// the stand-in cloud's; empty: there is none.
func demoConfig(cmd *cobra.Command, cloudURL string) (c *config.Config, err error) {
	set := overlay(cmd.Flags())
	if cloudURL != "" {
		set = append([]config.Setting{{Key: "cloud.url", Value: cloudURL, Origin: "the stand-in cloud"}}, set...)
	}
	if path := text(cmd, "config"); path != "" {
		c, err = config.Load(path, all.All(), set...)
	} else {
		own := []config.Setting{{Key: "http.listen", Value: demoListen}, {Key: "broker.listen", Value: demoBroker},
			{Key: "push.url", Value: "https://" + demoPush}}
		c, err = config.Parse("demo.yaml", configs.Demo, all.All(), append(own, set...)...)
	}
	if err != nil {
		return nil, unreadable(cmd, text(cmd, "config"), err)
	}
	if _, said := c.Origin("clock.trust"); !said {
		c.Clock.Trust = config.TrustAlways // nobody waits for a time server to try an expiry
	}
	return absoluteData(c)
}

// demoData prepares and locks the data directory. One that nobody named is
// the demo's own and begins empty.
func demoData(c *config.Config) (*os.File, error) {
	if _, named := c.Origin("data"); named {
		return lockDirectory(c.Data)
	}
	c.Data = demoDirectories()[0]
	if err := errors.Join(os.MkdirAll(c.Data, 0o700), own(c.Data)); err != nil {
		return nil, err
	}
	lock, err := lockDirectory(c.Data)
	if err != nil {
		return nil, err
	}
	return lock, clearDirectory(c.Data)
}

// own refuses a directory that somebody else has made at a place that
// everybody may write to.
func own(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || int(owner.Uid) != os.Getuid() {
		return fail(exitFailed, "%s is not a directory of yours alone: remove it, or choose another with --data", dir)
	}
	return nil
}

// clearDirectory removes all but the lock.
func clearDirectory(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// openCloudBroker starts the broker of a stand-in cloud and returns its URL.
func (g *gateway) openCloudBroker(listen string) (url string, err error) {
	b, err := g.openBroker("cloud broker", "cloud-listen", broker.Options{Listen: listen,
		AllowAnonymousLoopback: true, MaxPacket: cloud.MaxPayload + 2048, Log: g.log.With("broker", "cloud")})
	if err != nil {
		return "", err
	}
	return "mqtt://" + b.Addr().String(), nil
}

// openStandIn opens the stand-in cloud at its broker. What nobody has spoken of
// belongs to the gateway.
func (g *gateway) openStandIn(url, gateway string) (err error) {
	g.demo.cloud, err = standin.New(standin.Options{URL: url, Gateway: gateway, Log: g.log.With("client", "backend")})
	if err == nil {
		g.brokers = append(g.brokers, loop{"backend", g.demo.cloud.Run})
		g.settle = g.demo.cloud.Settle
	}
	return err
}
