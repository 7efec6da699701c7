package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/claim"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/cloudkey"
	"roomgate/agent/cloudlink"
	"roomgate/agent/device"
	"roomgate/agent/edge"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/agent/homeassistant"
	"roomgate/agent/message/book"
	"roomgate/agent/roomcontrol"
	"roomgate/agent/rule/doubt"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/timekeeper"
	"roomgate/agent/unlock"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// Open loads what is stored and prepares every device. It touches no
// hardware: that is Run's.
func Open(ctx context.Context, o Options) (*Agent, error) {
	started := time.Now()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &Agent{foundation: foundation{options: o}, Cloud: cloudlink.New(o.Config.Gateway.ID)}
	db, _, err := store.Open(ctx, filepath.Join(o.DataDir, Database), store.Options{
		Progress: o.Progress, Reserve: device.Reserve, Names: buckets(), Age: rowAge, Schema: Schema, MaxSize: int64(o.Config.Store.MaxSize), Log: o.Log})
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	a.options.SystemKey = ""
	a.db = db
	if err := load(ctx, a, o, started); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// load opens the nouns, each after those that it stands on.
func load(ctx context.Context, a *Agent, o Options, started time.Time) error {
	if err := loadSpine(ctx, a, started); err != nil {
		return err
	}
	if err := openAccess(ctx, a, o); err != nil {
		return fmt.Errorf("load the keys and users: %w", err)
	}
	if err := loadRooms(ctx, a); err != nil {
		return err
	}
	if err := closeInterrupted(ctx, a.Commands, a.options.Log); err != nil {
		return fmt.Errorf("close interrupted commands: %w", err)
	}
	if err := loadFollowers(ctx, a); err != nil {
		return err
	}
	return loadCloud(ctx, a)
}

// loadSpine opens what every noun stands on: clock, log, commands and health. A repaired database is mended before
// anything is read of it.
func loadSpine(ctx context.Context, a *Agent, started time.Time) (err error) {
	if a.clock, err = timekeeper.Open(ctx, clockOptions(a)); err != nil {
		return fmt.Errorf("load the clock: %w", err)
	}
	a.Events = eventlog.New(eventlog.Options{DB: a.db, Clock: a.clock.Clock, Rows: a.options.Config.Store.Events, Flush: a.options.Config.Store.Flush,
		Log: a.options.Log, Grown: a.Cloud.Wake})
	a.Commands = device.NewCommands(commandsOptions(a))
	if a.Health, err = health.Open(ctx, healthOptions(a, started)); err != nil {
		return err
	}
	if err := mendRepaired(ctx, a.db, a.Commands, a.options.Log); err != nil {
		return fmt.Errorf("mend the repaired database: %w", err)
	}
	return nil
}

// loadRooms opens the meeting spaces and devices, and who opens their doors.
func loadRooms(ctx context.Context, a *Agent) (err error) {
	a.Bookings = schedule.New(scheduleOptions(a))
	if err := a.Bookings.SealLinks(ctx); err != nil {
		return fmt.Errorf("seal the addresses of calendars: %w", err)
	}
	if a.signers, err = cloudkey.Open(ctx, signerOptions(a)); err != nil {
		return fmt.Errorf("load the keys that the cloud signs with: %w", err)
	}
	if a.Claim, err = claim.Open(ctx, claimOptions(a)); err != nil {
		return fmt.Errorf("load the gateway's claim: %w", err)
	}
	if a.Edges, err = edge.Open(ctx, edgeOptions(a)); err != nil {
		return fmt.Errorf("load the edge devices: %w", err)
	}
	if a.Unlock, err = unlock.Open(ctx, unlockOptions(a)); err != nil {
		return fmt.Errorf("load the unlock codes: %w", err)
	}
	if a.Site, err = site.Open(ctx, siteOptions(a)); err != nil {
		return fmt.Errorf("load the site: %w", err)
	}
	return nil
}

// closeInterrupted ends the commands of the process before this one. A disk that does not take that is no hindrance.
func closeInterrupted(ctx context.Context, commands *device.Commands, log *slog.Logger) error {
	err := commands.CloseInterrupted(ctx)
	if store.Unstored(err) {
		log.Error("cannot close interrupted commands, the next start tries again: see roomgate doctor", "error", err)
		return nil
	}
	return err
}

// loadFollowers opens what follows the log: webhooks, messages and rules.
func loadFollowers(ctx context.Context, a *Agent) (err error) {
	if a.Webhooks, err = webhook.Open(ctx, webhookOptions(a)); err != nil {
		return err
	}
	if a.Messages, err = book.Open(ctx, messageOptions(a)); err != nil {
		return fmt.Errorf("load the messages: %w", err)
	}
	if a.marks, err = doubt.Open(ctx, doubtOptions(a)); err != nil {
		return fmt.Errorf("load the marks of doubt: %w", err)
	}
	if a.Rules, err = engine.Open(ctx, ruleOptions(a)); err != nil {
		return fmt.Errorf("load the rules: %w", err)
	}
	if err := a.Bookings.NoteNewSpaces(ctx); err != nil {
		return fmt.Errorf("note the meeting spaces: %w", err)
	}
	return nil
}

// loadCloud opens what the cloud manages, and the conversation with it, once the log has what a repair leaves to tell.
func loadCloud(ctx context.Context, a *Agent) (err error) {
	if a.CloudConfig, err = cloudconfig.Open(ctx, cloudConfigOptions(a)); err != nil {
		return fmt.Errorf("load the cloud's configuration: %w", err)
	}
	if err := tellRepaired(ctx, a.db, a.Commands, a.options.Log, a.Health, a.Bookings); err != nil {
		return fmt.Errorf("tell of the repair of the database: %w", err)
	}
	link := cloudOptions(a)
	if link.Identity, err = identity(ctx, a); err != nil {
		return fmt.Errorf("load the certificate for the cloud: %w", err)
	}
	return a.Cloud.Open(link)
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
	loops.Go(func() error { return a.Commands.KeepOver(upper) })
	loops.Go(func() error { return a.Health.Watch(upper) })
	loops.Go(func() error { return a.clock.Run(upper) })
	loops.Go(func() error {
		return a.Cloud.Run(upper, a.Health.Beat, func(ctx context.Context) error {
			return a.Site.ForEach(ctx, func(ctx context.Context, s *site.Space) error { return sendStates(ctx, a.Cloud, a.Site, s) })
		}, func(ctx context.Context) error { return sendUnstored(ctx, a.Cloud, a.Commands) })
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
		return a.Events.Finish(context.WithoutCancel(ctx))
	})
	err := loops.Wait()
	return errors.Join(err, <-failed)
}
