// Package cloudlink is the conversation with the cloud: one connection to its
// broker, what goes up from the log and beside it, and what comes down, each to
// who takes it.
package cloudlink

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/store"
)

// Handler takes a message that came down. Its error means that the message could
// not be stored: it is not acknowledged and comes again. One that has no room, store.ErrFull
// or problem.Full, is refused instead.
type Handler = func(context.Context, cloud.Envelope) error

// Options are what the conversation stands on. Events stays with the link even
// without a cloud: the log is kept for the day that there is one.
type Options struct {
	DB      *store.DB
	Events  *eventlog.Log
	Clock   *clock.Clock
	Log     *slog.Logger
	Cloud   Settings
	Gateway string // id
	Version string
	Login   func() (username, password string, err error)
	// Dial reaches the broker; nil: the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Down is who takes what comes down, by topic level. The link itself takes
	// those of acknowledgements and replays.
	Down map[string]Handler
	// Refuse answers a message of that level that cannot be understood, or not done.
	Refuse func(ctx context.Context, level string, e cloud.Envelope, err error) error
	// Verify returns the id of the key that has signed a message of that level, or
	// refuses it. Nil: nothing that is signed is taken.
	Verify func(level string, s cloud.Signed) (keyID string, err error)
	// Up follows each connection, once the birth message is out.
	Up func()
	// Contested is called when another gateway has the same id, with how many
	// connections in a row the broker has closed soon.
	Contested func(ctx context.Context, connections int)
	// Identity is a certificate that the gateway gets from its cloud; nil: there is none.
	Identity Identity
	// Witness hears the time of each live message.
	Witness func(e cloud.Envelope)
}

// Settings say how the cloud is reached.
type Settings struct {
	URL               string  // of the broker; empty: nothing is dialled
	CAFile            string  // whom to trust, in PEM; empty: whom the system trusts
	ClientCertificate string  // file in PEM; empty: none is shown
	ClientKey         string  // file of its key
	Acks              string  // on what the outbox forgets: cloud.AcksBackend or cloud.AcksBroker
	TLS12             bool    // an old broker may speak TLS 1.2; else 1.3 is the least
	Rate              float64 // messages of a backlog per second; 0: as many as the broker takes
	// ReconnectSpread is over how long the first attempt after a lost connection is
	// spread, unless the cloud wants another; 0: a second.
	ReconnectSpread time.Duration
}

// Link is the conversation. Without a cloud it is never connected.
type Link struct {
	o      Options
	topics cloud.Topics
	down   map[string]Handler

	// spread is what the cloud wants for the configured one, in seconds; 0: nothing.
	spread atomic.Int64

	// Both are nil without a cloud, and until Open has made them.
	link   atomic.Pointer[cloud.Link]
	uplink atomic.Pointer[cloud.Uplink]
}

// New prepares a link that is not opened: the log may wake it from now on.
func New(gateway string) *Link { return &Link{topics: cloud.Topics{Gateway: gateway}} }

// Open takes the options; nothing is dialled before Run. It fails if a file that
// the configuration names cannot be read.
func (l *Link) Open(o Options) error {
	l.o = o
	l.down = map[string]Handler{cloud.LevelAck: l.takeAck, cloud.LevelReplay: l.takeReplay}
	maps.Copy(l.down, o.Down)
	if o.Cloud.URL == "" {
		return nil
	}
	secure, err := TLS(o.Cloud)
	if err != nil {
		return err
	}
	s := &session{link: l}
	link := cloud.LinkOptions{
		URL: o.Cloud.URL, ClientID: cloud.ClientID(o.Gateway), Login: o.Login, TLS: secure,
		Will: s.will, Birth: s.birth, Farewell: s.farewell,
		Subscribe: []string{l.topics.Down("+")}, Unsubscribe: l.earlier(), Receive: l.Receive, Up: l.up,
		Own: cloud.Own{Topic: l.topics.Up(cloud.LevelPresence), Mine: l.mine, Contested: o.Contested}, Spread: l.Spread, Dial: o.Dial, Log: o.Log,
	}
	l.identify(&link)
	l.link.Store(cloud.NewLink(link))
	l.uplink.Store(cloud.NewUplink(l.link.Load(), outbox{l}, cloud.UplinkOptions{
		Acks: o.Cloud.Acks, Rate: o.Cloud.Rate, ForgetWithin: forgetWithin, History: outbox{l}.rows, Log: o.Log}))
	return nil
}

// Run keeps the link up and sends what the log has, until ctx ends. The extra
// loops end with it; without a cloud none runs.
func (l *Link) Run(ctx context.Context, extra ...func(context.Context) error) error {
	if l.link.Load() == nil {
		return nil
	}
	loops, ctx := errgroup.WithContext(ctx)
	for _, run := range append(extra, l.loops()...) {
		loops.Go(func() error { return run(ctx) })
	}
	if err := loops.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// Wake says that the log has grown.
func (l *Link) Wake() {
	if u := l.uplink.Load(); u != nil {
		u.Wake()
	}
}

// Configured says whether there is a cloud at all.
func (l *Link) Configured() bool { return l.link.Load() != nil }

// Connected says whether the cloud's broker is there now.
func (l *Link) Connected() bool { return l.Configured() && l.link.Load().Connected() }

// Away is how long the cloud's broker has been unreachable, see [cloud.Link.Away]; 0:
// it is there, or there is no cloud.
func (l *Link) Away() time.Duration {
	if !l.Configured() {
		return 0
	}
	return l.link.Load().Away()
}

// Contested is how many connections in a row the cloud's broker has closed soon, as
// another gateway has this id.
func (l *Link) Contested() int {
	if !l.Configured() {
		return 0
	}
	return l.link.Load().Contested()
}

// Renew logs in again, with what Login returns from now on.
func (l *Link) Renew() {
	if l.Configured() {
		l.link.Load().Renew()
	}
}

// up follows each connection.
func (l *Link) up(context.Context) {
	if l.o.Identity != nil {
		l.o.Identity.Up()
	}
	l.Wake()
	l.o.Up()
}

// earlier are the filters of earlier versions, one for each level: a broker that keeps them
// would send everything twice, or keep six queues for one gateway.
func (l *Link) earlier() (filters []string) {
	for _, level := range cloud.DownLevels() {
		filters = append(filters, l.topics.Down(level))
	}
	return filters
}
