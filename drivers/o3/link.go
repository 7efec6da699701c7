package o3

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

var errSilent = errors.New("hub has stopped reporting")

// link is the connection to the hub.
type link struct {
	opts    Options
	said    *readings
	session *session.Session
}

func newLink(o Options, b drivers.Buses, said *readings) *link {
	l := &link{opts: o, said: said}
	l.session = session.New(session.Options{
		Peer: "hub", Address: o.Address, ClientID: session.NewID(),
		Username: o.Username, Password: func() (string, error) { return o.Password.Reveal(o.PasswordFile) },
		Filters: []string{l.topic(reports) + "#"}, WriteTimeout: o.Timeout,
		Up: said.connected, Down: said.disconnected, Receive: l.receive, Skipped: l.skipped, Tend: l.tend,
	}, b)
	return l
}

// tend does something about silence.
func (l *link) tend(ctx context.Context, renew func(context.Context) error) error {
	tick := time.NewTicker(max(l.opts.Silence/4, 100*time.Millisecond))
	defer tick.Stop()
	renewed := false
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		switch quiet := l.said.quiet(); {
		case quiet >= 2*l.opts.Silence:
			return errSilent
		case quiet < l.opts.Silence:
			renewed = false
		case !renewed:
			renewed = true
			if err := renew(ctx); err != nil {
				return err
			}
		}
	}
}

func (l *link) topic(part string) string {
	if l.opts.Prefix == "" {
		return part
	}
	return l.opts.Prefix + "/" + part
}

// receive only files the report. A retained one may be of any age and is no
// observation.
func (l *link) receive(topic string, payload []byte, retained bool) {
	sub, ok := strings.CutPrefix(topic, l.topic(reports))
	if ok && !retained {
		l.said.report(sub, payload)
	}
}

// skipped files a report that was too large to be read.
func (l *link) skipped(m session.TooLarge) {
	sub, ok := strings.CutPrefix(m.Topic, l.topic(reports))
	if ok && !m.Retained {
		l.said.take(sub, report{}, fmt.Errorf("%w: %w", errReport, m))
	}
}

// send gives the hub orders, in their order. An error means that nothing
// certain is known about the last one.
func (l *link) send(ctx context.Context, todo []order) error {
	messages := make([]session.Message, len(todo))
	for i, o := range todo {
		payload, err := o.payload()
		if err != nil {
			return err
		}
		messages[i] = session.Message{Topic: l.topic(orders) + o.sub, Payload: payload}
	}
	return l.session.Send(ctx, messages...)
}
