package agent

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/backup"
	"roomgate/agent/claim"
	"roomgate/agent/clock"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/cloudkey"
	"roomgate/agent/cloudlink"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/devicesecret"
	"roomgate/agent/edge"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/agent/loop"
	"roomgate/agent/mail"
	"roomgate/agent/message/book"
	"roomgate/agent/outgoing"
	"roomgate/agent/rule/doubt"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/timekeeper"
	"roomgate/agent/unlock"
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
	NotStarted []health.NotStarted
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

// reach is where requests for somebody may go, as a demo says it.
func (o *Options) reach(p outgoing.Policy) outgoing.Policy {
	p.Demo = o.Simulated
	return p
}

// Dialer opens a connection.
type Dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Agent is an opened building.
type Agent struct {
	Events      *eventlog.Log
	Site        *site.Site // meeting spaces and devices
	Commands    *device.Commands
	Bookings    *schedule.Book
	Messages    *book.Messages
	Claim       *claim.Claim // the organization that owns the gateway
	Access      *access.Directory
	Webhooks    *webhook.Dispatcher
	Edges       *edge.Devices // boards and displays in the rooms
	Cloud       *cloudlink.Link
	Unlock      *unlock.Codes // codes of the doors
	Rules       *engine.Engine
	Health      *health.Monitor            // readiness, metrics, heartbeat
	CloudConfig *cloudconfig.Configuration // the configuration that the cloud sends

	foundation
}

// foundation is what the nouns stand on.
type foundation struct {
	options Options // without the system key
	db      *store.DB
	clock   *timekeeper.Keeper
	keys    *auth.Keys        // made of the device secret
	signers *cloudkey.Signers // of what opens doors
	marks   *doubt.Marks      // of the devices that an unsigned word of the cloud has moved
	mail    *mail.Queue
}

// Close lets the database go. Run must have returned.
func (a *Agent) Close() error {
	ctx, cancel := loop.Last(context.Background())
	defer cancel()
	if err := a.Commands.Settle(ctx); err != nil && !errors.Is(err, store.ErrClosed) {
		a.options.Log.Warn("cannot store the last commands where an earlier version looks for them", "error", err)
	}
	a.Commands.HandOver()
	return a.db.Close()
}
