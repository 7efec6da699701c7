package agent

import (
	"cmp"
	"context"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/devicesecret"
	"roomgate/agent/edge"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/agent/mail"
	"roomgate/agent/message/book"
	"roomgate/agent/timekeeper"
	"roomgate/agent/webhook"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/store"
)

// clockOptions are what the clock of the building stands on.
func clockOptions(a *Agent) timekeeper.Options {
	return timekeeper.Options{DB: a.db, Log: a.options.Log, Mode: a.options.Config.Clock.Trust, Machine: a.options.Machine, Simulated: a.options.Simulated,
		Tell:  func(tx *store.Tx, kind string, details map[string]any) error { return a.Health.Tell(tx, kind, details) },
		Told:  func() { a.Events.Grow() },
		Moved: func() { clockMoved(a) }}
}

// openAccess opens the directory of those who may come in.
func openAccess(ctx context.Context, a *Agent, o Options) (err error) {
	if a.keys, err = devicesecret.Open(o.DataDir, o.Hardware, a.options.Log); err != nil {
		return err
	}
	a.mail = mail.New(mailOptions(a))
	if err := cloudconfig.Seal(ctx, a.db, a.keys, a.options.Log); err != nil {
		return err
	}
	var people []config.Person
	err = a.db.View(func(tx *store.Tx) (err error) {
		people, err = cloudconfig.PeopleAtStart(tx, a.keys, a.options.Config, a.options.Log)
		return err
	})
	if err != nil {
		return err
	}
	jwt := a.options.Config.Auth.JWT
	options := access.Options{DB: a.db, Keys: a.keys, Moment: moment(a), MomentOfRun: momentOfRun(a), Log: a.options.Log,
		Gateway: a.options.Config.Gateway.ID, Title: cmp.Or(a.options.Config.Gateway.Name, a.options.Config.Gateway.ID), Lifetime: jwt.Lifetime, Rotation: jwt.Rotation,
		SystemKey: o.SystemKey, People: people, Organizations: namedOrganizations(a.options.Config), Mailed: a.mail.Wake,
		Holdings: func(organization string) []string { return holdings(a, organization) }}
	if a.options.Config.SMTP.URL != "" {
		options.Mail = func(tx *store.Tx, c access.CodeLetter) error { return putCodeLetter(a, tx, c) }
	}
	a.Access, err = access.Open(ctx, options)
	return err
}

// namedOrganizations are the ids of those that a configuration file names.
func namedOrganizations(c *config.Config) (ids []string) {
	for _, s := range c.Spaces {
		ids = append(ids, s.Organization())
	}
	for _, u := range c.Users {
		ids = append(ids, u.OrganizationID)
	}
	return ids
}

// putCodeLetter queues the letter with a one-time password. It replaces the one
// that waits for the same reader.
func putCodeLetter(a *Agent, tx *store.Tx, c access.CodeLetter) error {
	return a.mail.PutCode(tx, c.Account, mail.Letter{To: c.To, Subject: c.Subject, Text: c.Text}, c.Decoy, moment(a)())
}

// mailOptions is what the letters wait with until the relay takes them.
func mailOptions(a *Agent) mail.Options {
	c := a.options.Config.SMTP
	settings := mail.Settings{From: c.From, Username: c.Username, CAFile: c.CAFile,
		Password: func() (string, error) { return c.Password.Reveal(c.PasswordFile) }}
	if c.URL != "" {
		settings.Address, settings.Implicit, settings.Plain = c.Server()
	}
	return mail.Options{DB: a.db, Keys: a.keys, Moment: moment(a), Settings: settings, Dial: a.options.MailDial, Log: a.options.Log}
}

// messageOptions is what the messages to mobile devices stand on.
func messageOptions(a *Agent) book.Options {
	o := book.Options{DB: a.db, Events: a.Events, Keys: a.keys, Clock: a.clock.Clock, Moment: moment(a), Log: a.options.Log,
		Push: pushGateway(a.options.Config.Push, a.options.Push, a.options.Log), Flush: a.options.Config.Store.Flush, Organizers: a.options.Config.Messages.Organizers,
		ReaderByID: func(id string) (book.Reader, bool) {
			return messageReader(a.Access.People(), a.options.Config.Push, a.Access.User(id))
		},
		ReaderByEmail: func(email, organization string) (book.Reader, bool) {
			return messageReader(a.Access.People(), a.options.Config.Push, a.Access.UserByEmail(email, organization))
		},
		HasTopic: func(organization, topic string) bool {
			return hasTopic(a.Access.People(), a.options.Config.Push, organization, topic)
		},
		Booking: a.Bookings.Get,
		Owner:   ownerOf(a)}
	if a.options.Config.Cloud.URL != "" {
		o.Cloud = func() (acked uint64, connected bool, err error) {
			acked, err = a.Cloud.Acked()
			return acked, a.Cloud.Connected(), err
		}
	}
	return o
}

// webhookOptions are what the webhooks stand on.
func webhookOptions(a *Agent) webhook.Options {
	return webhook.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log,
		Client: a.options.Webhooks, Policy: a.options.reach(a.options.Config.Webhooks.Policy(a.options.AllowLoopback)),
		MaxDeliveries: webhook.Budget(int64(a.options.Config.Store.MaxSize)), Flush: a.options.Config.Store.Flush,
		Alerts:       []string{device.EventTemperatureAlert, drivers.EventDoorForced, drivers.EventDoorHeldOpen},
		Organization: func(id string) error { _, err := a.Access.Organization(id); return err },
		Owner:        ownerOf(a),
		Notify:       notifyAdmins(a)}
}

// notifyAdmins stages letters to admins, where there is a mail relay.
func notifyAdmins(a *Agent) func([]webhook.Notice) eventlog.Stage {
	if a.options.Config.SMTP.URL == "" {
		return func([]webhook.Notice) eventlog.Stage { return eventlog.Stage{} }
	}
	return adminMail{a.Access, a.mail, a.options.Log}.stage
}

// edgeOptions are what the edge devices stand on.
func edgeOptions(a *Agent) edge.Options {
	return edge.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log,
		Space: func(id string) error { _, err := a.Site.Space(id); return err },
		Owner: func(id string) (string, error) { return a.Site.OrganizationOf(id) },
	}
}

// healthOptions are what the health of the gateway stands on.
func healthOptions(a *Agent, started time.Time) health.Options {
	return health.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Log: a.options.Log, Config: a.options.Config, DataDir: a.options.DataDir,
		Version: a.options.Version, NotStarted: a.options.NotStarted, Simulated: a.options.Simulated, Started: started,
		Spaces: func() []health.Space {
			var all []health.Space
			for _, s := range a.Site.Spaces() {
				all = append(all, health.Space{Name: s.Name, Room: s.Room, Devices: s.Devices, Presence: s.Presence})
			}
			return all
		},
		Queues: func() health.Queues {
			return health.Queues{Mail: health.Waiting(a.mail.Status()).Queue(), Push: health.Waiting(a.Messages.Status()).Queue(), Webhooks: a.Webhooks.Summary()}
		},
		Cloud: func() health.Cloud {
			acked, _ := a.Cloud.Acked()
			signers, t := a.signers, a.Cloud.Trouble()
			return health.Cloud{Connected: a.Cloud.Connected(), Contested: a.Cloud.Contested(), Acked: acked, DoorsUnsigned: signers.UnsignedAllowed(), SigningKeys: signers.IDs(), Revision: a.CloudConfig.Revision(),
				Certificate: certificateOf(a.Cloud),
				Trouble:     health.Trouble{Cause: string(t.Cause), Seen: t.Seen(), Fix: t.Fix(), Error: t.Error, At: t.At.UTC(), Times: t.Times, Since: t.Since.UTC()}.OrNil()}
		},
		Send: func(ctx context.Context, r health.Report) { a.Cloud.Send(ctx, cloud.LevelHeartbeat, "", false, r) }}
}
