package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/cloud"
	"roomgate/drivers/all"
	"roomgate/drivers/sim/plan"
)

// simPause is from the beginning of one gateway to that of the next.
const simPause = 4 * time.Millisecond

// mostSimulated is how many gateways one process has at most.
const mostSimulated = 10_000

// simRoom is the building of a simulated gateway: one room with a lock and a light.
const simRoom = `clock: {trust: always}
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-%012d
    name: Room
    devices:
      - {id: door, type: lock, driver: lock-relay, options: {relay: lock.relay, sense: lock.sense}}
      - {id: lamp, type: light, driver: light-pwm, options: {channel: light}}
`

const simWorld = `spaces:
  - {id: 7c0b2a54-3f0e-4d8e-9a51-%012d, name: Room}
parts:
  - {space: room, device: lock, part: door, relay: lock.relay, sense: lock.sense}
  - {space: room, device: light, part: lamp, pwm: light}
`

func newFleetSim() *cobra.Command {
	sim := &cobra.Command{Use: "sim N", Short: "run many gateways in this process, to measure a cloud",
		Long: "Runs gateways sim-1 to sim-N with the real link, outbox and store, each with one\n" +
			"simulated room, and says every 10 s what they cost, until Ctrl-C ends it. Their data goes with\n" +
			"the process. --one-file is for more than some thousand.",
		Example: "  roomgate fleet sim 500 --cloud mqtt://127.0.0.1:1884", Args: cobra.ExactArgs(1), RunE: action(simulateFleet)}
	sim.Flags().String("cloud", "mqtt://"+demoCloudListen, withVariable("`URL` of the cloud's broker, mqtt:// or mqtts://", "cloud"))
	sim.Flags().String("logins", "", "`DIR` of roomgate cloud cell, which has admitted sim-1 to sim-N: they log in with its passwords")
	sim.Flags().Bool("one-file", false, "light gateways, whose logs are in one database: link, outbox and log are real, and they have no devices")
	sim.Flags().Duration("every", 10*time.Second, "how often it says what the gateways cost")
	fleet := group("fleet", "many gateways, to measure a cloud", sim)
	fleet.Hidden = true
	return fleet
}

func simulateFleet(cmd *cobra.Command, args []string) (err error) {
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 || n > mostSimulated {
		return fail(exitUsage, "%q is no number of gateways: want 1 to %d", args[0], mostSimulated)
	}
	logins := text(cmd, "logins")
	if logins != "" {
		if logins, err = filepath.Abs(logins); err != nil {
			return err
		}
	}
	broker, err := dialCloudAs(cmd, simLogin(logins, 1)) // else nothing would ever be connected
	if err != nil {
		return err
	}
	broker.close()
	dir, err := os.MkdirTemp("", "roomgate-fleet-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	every, _ := cmd.Flags().GetDuration("every")
	s := &simulated{out: cmd.OutOrStdout(), every: max(every, time.Second), before: costNow()}
	defer func() { err = errors.Join(err, s.close()) }()
	if light, _ := cmd.Flags().GetBool("one-file"); light {
		err = s.openLight(cmd.Context(), dir, text(cmd, "cloud"), logins, n)
	} else {
		for i := 0; i < n && err == nil && cmd.Context().Err() == nil; i++ {
			err = s.open(cmd.Context(), filepath.Join(dir, strconv.Itoa(i+1)), text(cmd, "cloud"), logins, i+1)
		}
	}
	if err != nil {
		return err
	}
	return s.run(cmd.Context())
}

func simName(number int) string { return fmt.Sprint("sim-", number) }

func simPassword(logins string, number int) string {
	return filepath.Join(logins, simName(number)+".password")
}

// simLogin is that of a simulated gateway; without a folder nobody logs in.
func simLogin(logins string, number int) func() (string, string, error) {
	if logins == "" {
		return cloud.LoginAs("", nil)
	}
	return cloud.LoginAs(simName(number), func() (string, error) {
		password, err := os.ReadFile(simPassword(logins, number))
		return strings.TrimSpace(string(password)), err
	})
}

// simMember is a gateway.
type simMember struct {
	run       func(context.Context) error
	connected func() bool
}

// simulated are gateways in one process.
type simulated struct {
	out     io.Writer
	every   time.Duration
	members []simMember
	closes  []func() error
	before  cost // without gateways
}

func (s *simulated) open(ctx context.Context, dir, url, logins string, number int) error {
	settings := []config.Setting{
		{Key: "gateway.id", Value: simName(number), Origin: "fleet sim"}, {Key: "cloud.url", Value: url, Origin: "--cloud"}}
	if logins != "" {
		settings = append(settings, config.Setting{Key: "cloud.username", Value: simName(number), Origin: "--logins"},
			config.Setting{Key: "cloud.password_file", Value: simPassword(logins, number), Origin: "--logins"})
	}
	c, err := config.Parse("simulated", fmt.Appendf(nil, simRoom, number), all.All(), settings...)
	if err != nil {
		return err
	}
	world, err := plan.Parse(fmt.Appendf(nil, simWorld, number))
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return err
	}
	a, err := agent.Open(ctx, agent.Options{Config: c, Buses: world, DataDir: dir, SystemKey: "simulated", Version: version, Simulated: true, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		s.members = append(s.members, simMember{a.Run, a.Cloud.Connected})
		s.closes = append(s.closes, a.Close)
	}
	return err
}

// openLight opens light gateways upon one database.
func (s *simulated) openLight(ctx context.Context, dir, url, logins string, n int) error {
	db, err := openLightStore(ctx, dir)
	if err != nil {
		return err
	}
	s.closes = append(s.closes, db.Close)
	for i := range n {
		g := openLight(db, url, i+1, simLogin(logins, i+1))
		s.members = append(s.members, simMember{g.Run, g.link.Connected})
	}
	return nil
}

func (s *simulated) close() (err error) {
	for _, end := range s.closes {
		err = errors.Join(err, end())
	}
	return err
}

// run runs the gateways and says what they cost.
func (s *simulated) run(ctx context.Context) error {
	loops, ctx := errgroup.WithContext(ctx)
	for i, m := range s.members {
		loops.Go(func() error {
			select { // one after the other, as the buildings of a fleet do
			case <-ctx.Done():
				return nil
			case <-time.After(time.Duration(i) * simPause):
			}
			return m.run(ctx)
		})
	}
	loops.Go(func() error {
		for last := costNow(); ; {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(s.every):
			}
			now := costNow()
			fmt.Fprintln(s.out, s.line(last, now))
			last = now
		}
	})
	return loops.Wait()
}

// line says what the gateways cost since the last look.
func (s *simulated) line(last, now cost) string {
	connected, n := 0, float64(len(s.members))
	for _, m := range s.members {
		if m.connected() {
			connected++
		}
	}
	return fmt.Sprintf("%d of %d gateways are connected, each with %.0f kB of memory and %.3f %% of a processor", connected, len(s.members),
		float64(now.memory-s.before.memory)/n/1000, 100*(now.cpu-last.cpu).Seconds()/now.at.Sub(last.at).Seconds()/n)
}

// cost is what this process has used.
type cost struct {
	at     time.Time
	cpu    time.Duration
	memory int64 // resident, without the files that are mapped; bytes
}

func costNow() cost {
	c := cost{at: time.Now()}
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) == nil {
		c.cpu = time.Duration(use.Utime.Nano() + use.Stime.Nano())
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "RssAnon:" {
			kB, _ := strconv.ParseInt(fields[1], 10, 64)
			c.memory = kB << 10
		}
	}
	return c
}
