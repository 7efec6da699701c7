package mqttdevice

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

const (
	// closeTime bounds how long Close tries to reach a device.
	closeTime = time.Second
	// A device that follows an order mostly says so. One that was so already
	// may not, so it is asked after askFirst and then every askAgain.
	askFirst = 300 * time.Millisecond
	askAgain = time.Second
)

// body is what kind of device it is. Its methods, apart from describe, are
// called with the news locked.
type body interface {
	describe() drivers.Description
	// want is an order in facts, nil if there is no such order.
	want(c drivers.Command) []fact
	// statuses are the device's; an error means that nothing is known.
	statuses(now time.Time) ([]drivers.Status, error)
	// calm is the order that brings the device into its safe state, if it
	// needs one.
	calm() []fact
}

// Device is one device at a broker, or several that make up one.
type Device struct {
	body    body
	news    *news
	session *session.Session
	timeout time.Duration

	stop    context.CancelFunc
	stopped chan struct{}
	close   sync.Once
}

var (
	_ drivers.Driver  = (*Device)(nil)
	_ drivers.Watcher = (*Device)(nil)
)

func open(o Reach, b drivers.Buses, peers []*peer, body body) *Device {
	ctx, stop := context.WithCancel(context.Background())
	d := &Device{body: body, news: newNews(o.Broker, peers), timeout: o.Timeout, stop: stop, stopped: make(chan struct{})}
	var filters []string
	for _, p := range peers {
		filters = append(filters, p.dialect.topics()...)
	}
	id := session.NewID()
	if o.Username != "" {
		id = o.Username + "/" + id // what the building's own broker wants of a user
	}
	d.session = session.New(session.Options{
		Peer: "broker", Address: o.Broker, ClientID: id,
		Username: o.Username, Password: func() (string, error) { return o.Password.Reveal(o.PasswordFile) },
		Filters: filters, WriteTimeout: o.Timeout,
		Up: d.news.connected, Down: d.news.disconnected, Receive: d.news.receive, Skipped: d.news.skipped, Tend: d.tend,
	}, b)
	go func() {
		defer close(d.stopped)
		d.session.Run(ctx)
	}()
	return d
}

// tend asks the devices for what they are, as often as is due.
func (d *Device) tend(ctx context.Context, _ func(context.Context) error) error {
	for {
		asked, next, wake := d.news.questions(time.Now())
		for _, p := range asked {
			if err := d.session.Send(ctx, p.dialect.ask()...); err != nil {
				return err
			}
		}
		session.Until(ctx, wake, next)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// Describe says what the device has and takes.
func (d *Device) Describe() drivers.Description { return d.body.describe() }

// Poll returns what the device has reported. It waits only for the first
// connection and for the first answer on a new one, at most the timeout for
// each.
func (d *Device) Poll(ctx context.Context) ([]drivers.Status, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*d.timeout)
	defer cancel()
	for {
		wait, wake := d.news.settling(d.timeout)
		if wait <= 0 || !session.Until(ctx, wake, wait) {
			return d.statuses()
		}
	}
}

func (d *Device) statuses() ([]drivers.Status, error) {
	d.news.mu.Lock()
	defer d.news.mu.Unlock()
	if err := d.news.down(); err != nil {
		return nil, err
	}
	return d.body.statuses(time.Now())
}

// Do gives an order and waits for the report that proves it. An order to open
// that is not proved is taken back.
func (d *Device) Do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	want := d.body.want(c)
	if want == nil {
		return drivers.Status{}, drivers.ErrUnsupported
	}
	if err := ctx.Err(); err != nil {
		return drivers.Status{}, err
	}
	var s drivers.Status
	if err := d.carryOut(ctx, want, d.proof(c, &s)); err != nil {
		if _, isDoor := get(want, bolt); isDoor && c.Action == drivers.ActOpen && !errors.Is(err, drivers.ErrOffline) {
			d.takeBack(ctx)
		}
		return drivers.Status{}, fmt.Errorf("%s: %w", c.Action, err)
	}
	return s, nil
}

// proof judges a command by what the device has said, which it keeps in s. It is
// called with the news locked, so that nothing comes between.
func (d *Device) proof(c drivers.Command, s *drivers.Status) func() error {
	return func() error {
		all, err := d.body.statuses(time.Now())
		if err != nil {
			return fmt.Errorf("%w: %w", drivers.ErrNotConfirmed, err)
		}
		*s = all[0]
		return drivers.Unproven(d.body.describe().Type, c, *s)
	}
}

// takeBack orders the bolt closed. Whether it follows is seen at the next
// Poll.
func (d *Device) takeBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	messages, _ := d.news.peers[0].dialect.set([]fact{unlocked(false)})
	_ = d.session.Send(ctx, messages...) // the error of the order itself is the one to tell
}

// carryOut is for devices with one peer. It ends once an order is followed and
// nothing that was said since speaks against it.
func (d *Device) carryOut(ctx context.Context, want []fact, unproven func() error) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	p := d.news.peers[0]
	messages, expect := p.dialect.set(want)
	order, err := d.news.begin(p, expect)
	if err != nil {
		return err
	}
	if err := d.session.Send(ctx, messages...); err != nil {
		return err
	}
	began := time.Now()
	for again := began.Add(askFirst); ; {
		why, wake, lost := d.news.progress(p, order, unproven)
		switch {
		case why == nil:
			return nil
		case lost != nil:
			return fmt.Errorf("%w: %w", drivers.ErrNotConfirmed, lost)
		}
		session.Until(ctx, wake, time.Until(again))
		if ctx.Err() != nil {
			return fmt.Errorf("%w, %s after the order", why, time.Since(began).Round(time.Millisecond))
		}
		if !time.Now().Before(again) {
			again = time.Now().Add(askAgain)
			_ = d.session.Send(ctx, p.dialect.ask()...) // a lost connection is seen above
		}
	}
}

// Watch asks for a poll whenever a value changes, or the device comes or goes.
func (d *Device) Watch(ctx context.Context, report func(drivers.Event)) error {
	return session.Watch(ctx, d.stopped, d.look, report)
}

// look is everything that matters in one text.
func (d *Device) look() (now string, wake <-chan struct{}) {
	d.news.mu.Lock()
	defer d.news.mu.Unlock()
	all, err := d.body.statuses(time.Now())
	now = fmt.Sprint("up ", d.news.up, err != nil)
	for _, s := range all {
		now += fmt.Sprint("|", s.Value, s.Details["intensity"], s.Err != nil)
	}
	return now, d.news.wake
}

// Close brings the device into its safe state, if it can be reached, and says
// goodbye.
func (d *Device) Close() error {
	d.close.Do(func() {
		d.news.mu.Lock()
		calm := d.body.calm()
		d.news.mu.Unlock()
		if calm != nil {
			ctx, cancel := context.WithTimeout(context.Background(), closeTime)
			defer cancel()
			_ = d.carryOut(ctx, calm, func() error { return nil }) // nobody is left to be told of a failure
		}
		d.stop()
	})
	<-d.stopped
	return nil
}
