package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/backup"
	"roomgate/agent/claim"
	"roomgate/agent/clock"
	"roomgate/agent/cloudlink"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/devicesecret"
	"roomgate/agent/edge"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/agent/homeassistant"
	"roomgate/agent/mail"
	"roomgate/agent/message/book"
	"roomgate/agent/roomcontrol"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/unlock"
	"roomgate/agent/update"
	"roomgate/agent/webhook"
	"roomgate/drivers"
	"roomgate/store"
)

// Database is the name of the database in the data folder.
const Database = backup.DatabaseName

// SecretFile is the name of the device secret in the data folder.
const SecretFile = devicesecret.File

// Options are what a building is opened with.
type Options struct {
	Config  *config.Config
	Buses   drivers.Buses
	DataDir string // the folder of the database
	// Progress hears how far the check of the database before it is opened is; nil: nobody does.
	Progress store.Progress
	// SystemKey is the system API key; empty: the stored one, or a new one.
	SystemKey string
	Version   string
	// NotStarted are the releases that the start of this program passed over.
	NotStarted []update.NotStarted
	// Simulated says that the buses lead to no hardware.
	Simulated bool
	// Hardware names this machine, so that a copied card is noticed; empty:
	// it is not looked for.
	Hardware string
	// Machine tells what the machine knows of time; zero: nothing, so that
	// clock.trust auto believes the clock once somebody confirms it.
	Machine clock.Machine
	Log     *slog.Logger // nil: silent
	// Dial reaches the cloud's broker; nil: the network.
	Dial Dialer
	// MailDial reaches the mail relay; nil: the network.
	MailDial Dialer
	// Calendars fetches external calendars; nil: as the configuration allows.
	Calendars *http.Client
	// AllowLoopback lets webhooks and linked calendars reach this machine. It
	// is for a demo.
	AllowLoopback bool
	// Webhooks sends notifications; nil: as the configuration allows.
	Webhooks *http.Client
	// Push reaches the push gateway; nil: as the configuration says.
	Push *http.Client
}

// Dialer opens a connection.
type Dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Agent is an opened building.
type Agent struct {
	Events   *eventlog.Log
	Site     *site.Site // meeting spaces and devices
	Commands *device.Commands
	Bookings *schedule.Book
	Messages *book.Messages
	Claim    *claim.Claim // whom the gateway belongs to
	Access   *access.Directory
	Webhooks *webhook.Dispatcher
	Edges    *edge.Devices // boards and displays in the rooms
	Cloud    *cloudlink.Link
	Unlock   *unlock.Codes // codes of the doors
	Rules    *engine.Engine
	Health   *health.Monitor // how the gateway is
	Managed  *Managed        // what of it the cloud manages

	config  *config.Config
	options Options // without the system key

	db    *store.DB
	clock *clock.Keeper

	keys *auth.Keys // made of the device secret
	mail *mail.Queue
}

// Open loads what is stored and prepares every device. It touches no
// hardware: that is Run's.
func Open(ctx context.Context, o Options) (*Agent, error) {
	started := time.Now()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &Agent{config: o.Config, options: o, Cloud: cloudlink.New(o.Config.Gateway.ID)}
	db, _, err := store.Open(ctx, filepath.Join(o.DataDir, Database), store.Options{
		Progress: o.Progress, Names: buckets(), Age: rowAge, Schema: Schema, MaxSize: int64(o.Config.Store.MaxSize), Log: o.Log})
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	a.options.SystemKey = ""
	a.db = db
	if err := a.load(ctx, o, started); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

func (a *Agent) load(ctx context.Context, o Options, started time.Time) error {
	var err error
	if err = openClock(a, o.Machine); err != nil {
		return fmt.Errorf("load the clock: %w", err)
	}
	a.Events = eventlog.New(eventlog.Options{DB: a.db, Clock: a.clock.Clock, Rows: a.config.Store.Events, Flush: a.config.Store.Flush,
		Log: a.options.Log, Grown: a.Cloud.Wake})
	a.Commands = device.NewCommands(commandsOptions(a))
	if a.Health, err = health.Open(ctx, healthOptions(a, started)); err != nil {
		return err
	}
	if err := mendRepaired(ctx, a); err != nil {
		return fmt.Errorf("mend the repaired database: %w", err)
	}
	if err := openAccess(ctx, a, o); err != nil {
		return fmt.Errorf("load the keys and users: %w", err)
	}
	a.Bookings = schedule.New(scheduleOptions(a))
	if err := a.Bookings.SealLinks(ctx); err != nil {
		return fmt.Errorf("seal the addresses of calendars: %w", err)
	}
	if err = openClaim(ctx, a); err != nil {
		return fmt.Errorf("load the gateway's claim: %w", err)
	}
	if a.Edges, err = edge.Open(ctx, edgeOptions(a)); err != nil {
		return fmt.Errorf("load the edge devices: %w", err)
	}
	if a.Unlock, err = unlock.Open(ctx, unlockOptions(a)); err != nil {
		return fmt.Errorf("load the unlock codes: %w", err)
	}
	if a.Site, err = site.Open(ctx, siteOptions(a)); err != nil {
		return fmt.Errorf("load the last readings: %w", err)
	}
	if err := a.Commands.CloseInterrupted(ctx); errors.Is(err, store.ErrFull) {
		a.options.Log.Error("commands that were interrupted cannot be closed, the next start tries again: free space on the disk", "error", err)
	} else if err != nil {
		return fmt.Errorf("close interrupted commands: %w", err)
	}
	if a.Webhooks, err = webhook.Open(ctx, webhookOptions(a, o)); err != nil {
		return err
	}
	if a.Messages, err = book.Open(ctx, messageOptions(a)); err != nil {
		return fmt.Errorf("load the messages: %w", err)
	}
	if a.Rules, err = engine.Open(ctx, ruleOptions(a)); err != nil {
		return fmt.Errorf("load the rules: %w", err)
	}
	if err := a.Bookings.NoteNewSpaces(ctx); err != nil {
		return fmt.Errorf("note the meeting spaces: %w", err)
	}
	if a.Managed, err = openManaged(a); err != nil {
		return fmt.Errorf("load the cloud's configuration: %w", err)
	}
	if err := tellRepaired(ctx, a); err != nil {
		return fmt.Errorf("tell of the repair of the database: %w", err)
	}
	return a.Cloud.Open(cloudOptions(a))
}

// Run moves the building until ctx ends. The devices stop first, so that the
// last of what they say is still written and, if the link is up, sent.
func (a *Agent) Run(ctx context.Context) error {
	upper, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	loops, upper := errgroup.WithContext(upper)
	loops.Go(func() error { return a.db.Run(upper) })
	loops.Go(func() error { return a.Events.Run(upper) })
	loops.Go(func() error { return a.Access.Run(upper) })
	loops.Go(func() error { return a.clock.Run(upper) })
	loops.Go(func() error {
		return a.Cloud.Run(upper, a.Health.Beat, func(ctx context.Context) error {
			return a.Site.ForEach(ctx, func(ctx context.Context, s *site.Space) error { return sendStates(ctx, a, s) })
		})
	})
	loops.Go(func() error { return homeassistant.Run(upper, homeAssistantOptions(a)) })
	loops.Go(func() error { return a.Bookings.Run(upper) })
	loops.Go(func() error { return a.mail.Run(upper) })
	loops.Go(func() error { return a.Messages.Run(upper) })
	loops.Go(func() error { return a.Webhooks.Run(upper) })

	lower, stopDevices := context.WithCancel(ctx)
	defer stopDevices()
	context.AfterFunc(upper, stopDevices) // a fatal loop ends the devices too
	var devices errgroup.Group
	devices.Go(func() error {
		return a.Site.ForEach(lower, func(ctx context.Context, s *site.Space) error { return roomcontrol.Run(ctx, roomControlOptions(a, s)) })
	})
	devices.Go(func() error { return a.Unlock.Run(lower) })
	devices.Go(func() error { return a.Site.Run(lower) })
	devices.Go(func() error { return a.Rules.Run(lower) })
	failed := make(chan error, 1)
	loops.Go(func() error {
		defer stop()
		err := devices.Wait()
		failed <- err
		return a.Events.Flush(context.WithoutCancel(ctx))
	})
	err := loops.Wait()
	return errors.Join(err, <-failed)
}

// Close lets the database go. Run must have returned.
func (a *Agent) Close() error { return a.db.Close() }

// PageBeat says that the page of a space's room display is alive. It takes the
// page's answers and returns its open orders.
func (a *Agent) PageBeat(spaceID string, done []drivers.PageDone) ([]drivers.PageOrder, error) {
	if _, err := a.Site.Space(spaceID); err != nil {
		return nil, err
	}
	return a.options.Buses.Page(spaceID).Beat(time.Now(), done...), nil
}
