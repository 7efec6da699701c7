package agent

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/claim"
	"roomgate/agent/cloudcommand"
	"roomgate/agent/cloudlink"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/devicesecret"
	"roomgate/agent/doorsign"
	"roomgate/agent/edge"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/agent/homeassistant"
	"roomgate/agent/mail"
	"roomgate/agent/message/book"
	"roomgate/agent/problem"
	"roomgate/agent/roomcontrol"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/unlock"
	"roomgate/agent/webhook"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/store"
)

// homeAssistantOptions are what Home Assistant is told from.
func homeAssistantOptions(a *Agent) homeassistant.Options {
	settings := a.config.Broker.HomeAssistant
	settings.Publish = settings.Publish && a.config.Broker.Listen != "" // else there is no room broker
	return homeassistant.Options{
		Settings: settings, Gateway: a.config.Gateway.ID, Version: a.options.Version, Dial: a.options.Buses.Dial, Log: a.options.Log,
		Devices: func() []homeassistant.Device { return roomDevices(a.Site.Spaces()) }, Replaced: a.Site.Replaced, Changed: a.Events.Changed,
		Status: func(d homeassistant.Device, sub string) (homeassistant.Reading, bool) {
			r, err := a.Site.Status(d.SpaceID, d.Type, sub)
			return homeassistant.Reading{Value: r.Value, Offline: r.Offline(), Details: r.Details}, err == nil
		},
		Describe: func(d homeassistant.Device) drivers.Description {
			if found, err := a.Site.Device(d.SpaceID, d.Type); err == nil {
				return found.Describe()
			}
			return drivers.Description{} // one that is gone takes no action
		},
		Do: func(ctx context.Context, c homeassistant.Command) error {
			_, err := a.Commands.Accept(ctx, device.Command{Space: c.SpaceID, DeviceType: c.Type, SubDevice: c.Sub, Action: c.Action, Value: c.Value,
				TTL: homeassistant.CommandLife, Via: device.ViaRoom, By: "room broker"})
			return err
		},
	}
}

// roomDevices are those that Home Assistant is told of: not the ones that are
// off by their configuration and still are.
func roomDevices(spaces []*site.Space) (all []homeassistant.Device) {
	for _, s := range spaces {
		for _, d := range s.Devices {
			if d.Enabled || d.Live().Enabled {
				all = append(all, homeassistant.Device{ID: d.ID, Type: d.Type, SpaceID: s.ID, Space: s.Name})
			}
		}
	}
	return all
}

// openClaim opens whom the gateway belongs to, with the keys that they sign with.
func openClaim(ctx context.Context, a *Agent) (err error) {
	o := doorsign.Options{DB: a.db, Clock: a.clock.Clock, Log: a.options.Log, Unsigned: a.config.Doors.Unsigned}
	if a.options.Simulated {
		o.Unsigned = doorsign.Allow // there is no door behind it, and everybody is to try it
	}
	signers, err := doorsign.Open(ctx, o)
	if err == nil {
		a.Claim, err = claim.Open(ctx, claimOptions(a, signers))
	}
	return err
}

// claimOptions are what the gateway's claim stands on.
func claimOptions(a *Agent, signers *doorsign.Signers) claim.Options {
	return claim.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log, Signers: signers,
		Cloud: claimSettings(a.config.Cloud), ID: a.config.Gateway.ID, Name: a.config.Gateway.Name, Simulated: a.options.Simulated,
		Moment: moment(a), Online: a.Cloud.Connected, Page: func() string { return a.Health.Network().Page("/claim") },
		Organization: access.NameOrganization,
		Answer: func(tx *store.Tx, message string) error {
			return a.Commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT}, done(message))
		},
		Refuse: func(ctx context.Context, message cloud.Envelope, why *problem.Error) error {
			return cloudcommand.RefuseMessage(ctx, a.Commands, message, why)
		},
		LoginChanged: a.Cloud.Renew,
	}
}

func claimSettings(c config.Cloud) claim.Settings {
	return claim.Settings{URL: c.URL, Page: c.ClaimURL, Username: c.Username, Certificate: c.ClientCertificate != "",
		Password: func() (string, error) { return c.Password.Reveal(c.PasswordFile) }}
}

// openAccess opens the directory of those who may come in.
func openAccess(ctx context.Context, a *Agent, o Options) (err error) {
	if a.keys, err = devicesecret.Open(o.DataDir, o.Hardware, a.options.Log); err != nil {
		return err
	}
	a.mail = mail.New(mailOptions(a))
	var people []config.Person
	err = a.db.View(func(tx *store.Tx) (err error) {
		people, err = peopleAtStart(tx, a.config, a.options.Log)
		return err
	})
	if err != nil {
		return err
	}
	jwt := a.config.Auth.JWT
	options := access.Options{DB: a.db, Keys: a.keys, Moment: moment(a), Log: a.options.Log,
		Gateway: a.config.Gateway.ID, Title: cmp.Or(a.config.Gateway.Name, a.config.Gateway.ID), Lifetime: jwt.Lifetime, Rotation: jwt.Rotation,
		SystemKey: o.SystemKey, People: people, Organizations: namedOrganizations(a.config), Mailed: a.mail.Wake}
	if a.config.SMTP.URL != "" {
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
	c := a.config.SMTP
	settings := mail.Settings{From: c.From, Username: c.Username, CAFile: c.CAFile,
		Password: func() (string, error) { return c.Password.Reveal(c.PasswordFile) }}
	if c.URL != "" {
		settings.Address, settings.Implicit, settings.Plain = c.Server()
	}
	return mail.Options{DB: a.db, Keys: a.keys, Moment: moment(a), Settings: settings, Dial: a.options.MailDial, Log: a.options.Log}
}

// messageOptions is what the messages to mobile devices stand on.
func messageOptions(a *Agent) book.Options {
	o := book.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Moment: moment(a), Log: a.options.Log,
		Push: pushGateway(a.config.Push, a.options.Push, a.options.Log), Flush: a.config.Store.Flush, Organizers: a.config.Messages.Organizers,
		ReaderByID: func(id string) (book.Reader, bool) {
			return messageReader(a.Access.People(), a.config.Push, a.Access.User(id))
		},
		ReaderByEmail: func(email string) (book.Reader, bool) {
			return messageReader(a.Access.People(), a.config.Push, a.Access.UserByEmail(email))
		},
		HasTopic: func(organization, topic string) bool {
			return hasTopic(a.Access.People(), a.config.Push, organization, topic)
		},
		Booking: a.Bookings.Get,
		Owner:   ownerOf(a)}
	if a.config.Cloud.URL != "" {
		o.Cloud = func() (acked uint64, connected bool, err error) {
			acked, err = a.Cloud.Acked()
			return acked, a.Cloud.Connected(), err
		}
	}
	return o
}

// webhookOptions are what the webhooks stand on.
func webhookOptions(a *Agent, o Options) webhook.Options {
	return webhook.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log,
		Client: o.Webhooks, Policy: a.config.Webhooks.Policy(o.AllowLoopback),
		MaxDeliveries: webhook.Budget(int64(a.config.Store.MaxSize)), Flush: a.config.Store.Flush,
		Alerts:       []string{device.EventTemperatureAlert, drivers.EventDoorForced, drivers.EventDoorHeldOpen},
		Organization: func(id string) error { _, err := a.Access.Organization(id); return err },
		Owner:        ownerOf(a),
		Notify:       func(all []webhook.Notice) eventlog.Stage { return stageNotices(a, all) }}
}

// edgeOptions are what the edge devices stand on.
func edgeOptions(a *Agent) edge.Options {
	return edge.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log,
		Space: func(id string) error { _, err := a.Site.Space(id); return err },
	}
}

// KindEdge is a principal who comes with the key of an edge device.
const KindEdge = "edge"

// edgePrincipal says which edge device has that secret.
func edgePrincipal(edges *edge.Devices, secret string) (access.Principal, bool) {
	d, ok := edges.ByKey(secret)
	if !ok {
		return access.Principal{}, false
	}
	return access.Principal{ID: d.ID, Name: d.Name, Kind: KindEdge, SpaceID: d.SpaceID, Permissions: edge.Permissions}, true
}

// scheduleOptions open the schedules of the meeting spaces.
func scheduleOptions(a *Agent) schedule.Options {
	return schedule.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log,
		Calendars: a.options.Calendars, Policy: a.config.Calendars.Policy(a.options.AllowLoopback),
		Presence: func(spaceID string) (schedule.Presence, bool) { return a.Site.Presence(spaceID) },
		Owner:    ownerOf(a),
		Notices: func(r *schedule.Room, gone []booking.Booking) eventlog.Stage {
			return a.Messages.Notify(bookingNotices(r, gone)...)
		},
		Changed: func(spaceID string) { a.Site.Changed(spaceID) }}
}

// ownerOf asks whose a space is; it is for nouns that are opened before the site.
func ownerOf(a *Agent) func(spaceID string) (organization string, err error) {
	return func(id string) (string, error) { return a.Site.OrganizationOf(id) }
}

// roomControlOptions are what the control of a space by its schedule stands on.
func roomControlOptions(a *Agent, s *site.Space) roomcontrol.Options {
	return roomcontrol.Options{Clock: a.clock.Clock, Log: a.options.Log, Room: s.Room, Follow: s.Config.Follow,
		Device: s.OfType, Presence: func() string { return s.Presence().Value },
		Do: a.Commands.Do, Changed: s.Stirred}
}

// commandsOptions are what the commands of all devices stand on.
func commandsOptions(a *Agent) device.CommandsOptions {
	return device.CommandsOptions{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Log: a.options.Log, TTL: a.config.Cloud.CommandTTL,
		Find: func(spaceID, deviceType string) (*device.Device, error) { return a.Site.Device(spaceID, deviceType) }}
}

// siteOptions are what the meeting spaces and devices stand on.
func siteOptions(a *Agent) site.Options {
	return site.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Log: a.options.Log, Config: a.config, Buses: a.options.Buses,
		Commands: a.Commands, Bookings: a.Bookings, Claimed: a.Claim.Organization, Entered: a.Unlock.Typed,
	}
}

// unlockOptions are what the codes of the doors stand on.
func unlockOptions(a *Agent) unlock.Options {
	return unlock.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.keys, Commands: a.Commands, Log: a.options.Log, Moment: moment(a),
		Door: func(spaceID string) (unlock.Door, error) {
			s, err := a.Site.Space(spaceID)
			if err != nil {
				return unlock.Door{}, err
			}
			d, ok := doorOf(s)
			if !ok {
				return unlock.Door{}, problem.New(problem.NotFound, "meeting_space_id", "is a meeting space without a lock")
			}
			return d, nil
		},
		Doors: func() ([]unlock.Door, <-chan struct{}) {
			replaced := a.Site.Replaced()
			return doors(a.Site.Now()), replaced
		},
	}
}

// doorOf is the lock of a space, if it has one.
func doorOf(s *site.Space) (d unlock.Door, ok bool) {
	lock := s.OfType(drivers.TypeLock)
	return unlock.Door{Space: s.Name, Lock: lock, Room: s.Room}, lock != nil
}

// doors are those of all spaces, in order.
func doors(x *site.Index) (all []unlock.Door) {
	for _, s := range x.Spaces() {
		if d, ok := doorOf(s); ok {
			all = append(all, d)
		}
	}
	return all
}

// cloudOptions are what the conversation with the cloud stands on.
func cloudOptions(a *Agent) cloudlink.Options {
	return cloudlink.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Log: a.options.Log, Cloud: cloudSettings(a.config.Cloud),
		Gateway: a.config.Gateway.ID, Version: a.options.Version, Login: a.Claim.Login, Dial: a.options.Dial,
		Down: handlers(a), Contested: a.Health.TellContested,
		Refuse: func(ctx context.Context, level string, e cloud.Envelope, err error) error {
			return refuseDown(ctx, a, level, e, err)
		},
		Verify: func(level string, s cloud.Signed) (string, error) { return a.Claim.Signers().Verify(level, s) },
		Witness: func(e cloud.Envelope) {
			if a.Claim.Signers().Unsigned() { // else a held back message would vouch for the clock that it needs
				a.clock.Hear(e.Time)
			}
		},
		Up: func() {
			for _, s := range a.Site.Spaces() {
				s.Changed()
			}
		}}
}

// healthOptions are what the health of the gateway stands on.
func healthOptions(a *Agent, started time.Time) health.Options {
	return health.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Log: a.options.Log, Config: a.config, DataDir: a.options.DataDir,
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
			signers := a.Claim.Signers()
			return health.Cloud{Connected: a.Cloud.Connected(), Contested: a.Cloud.Contested(), Acked: acked, DoorsUnsigned: signers.Unsigned(), SigningKeys: signers.IDs()}
		},
		Send: func(ctx context.Context, r health.Report) { a.Cloud.Send(ctx, "heartbeat", "", false, r) }}
}

func cloudSettings(c config.Cloud) cloudlink.Settings {
	return cloudlink.Settings{URL: c.URL, CAFile: c.CAFile, ClientCertificate: c.ClientCertificate, ClientKey: c.ClientKey, TLS12: c.TLSMin == config.TLS12, Acks: c.Acks, Rate: c.Rate}
}

// ruleOptions are what the rules stand on.
func ruleOptions(a *Agent) engine.Options {
	var last atomic.Pointer[ruled] // an event asks for it several times
	return engine.Options{DB: a.db, Events: a.Events, Clock: a.clock.Clock, Log: a.options.Log, Commands: a.Commands, Messages: a.Messages,
		Booking: a.Bookings.Get, Ready: a.Health.Ready,
		Site: func() *engine.Site {
			x := a.Site.Now()
			if r := last.Load(); r != nil && r.of == x {
				return r.site
			}
			r := &ruled{x, ruledSite(x)}
			last.Store(r)
			return r.site
		}}
}

// ruled is the site as rules see it, and of what it was made.
type ruled struct {
	of   *site.Index
	site *engine.Site
}

// ruledSite are the meeting spaces as rules see them.
func ruledSite(x *site.Index) *engine.Site {
	all := make([]*engine.Space, len(x.Spaces()))
	for i, s := range x.Spaces() {
		all[i] = &engine.Space{Room: s.Room, Devices: s.Devices, Device: s.Device}
	}
	return engine.NewSite(all...)
}
