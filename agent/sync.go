package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
)

// ackedCursor names how far the cloud has acknowledged the log.
const ackedCursor eventlog.Cursor = "acked"

// down is what the gateway subscribes to, and who takes it. A handler's error
// means that the message could not be stored: it is not acknowledged and
// comes again.
func (a *Agent) down() map[string]func(context.Context, cloud.Envelope) error {
	return map[string]func(context.Context, cloud.Envelope) error{
		"command":  a.takeCommand,
		"ack":      a.takeAck,
		"replay":   a.takeReplay,
		"schedule": a.takeSchedule,
		"config":   a.takeConfig,
		"claim":    func(ctx context.Context, e cloud.Envelope) error { return a.Claim.Take(ctx, e) },
	}
}

// DownLevels are the topic levels that a gateway listens to, sorted.
func DownLevels() []string { return slices.Sorted(maps.Keys((*Agent)(nil).down())) }

// openCloud prepares the link; nothing is dialled before Run.
func (a *Agent) openCloud(o Options) error {
	c := a.config.Cloud
	if c.URL == "" {
		return nil
	}
	secure, err := tlsConfig(c)
	if err != nil {
		return err
	}
	var subscribe []string
	for _, level := range DownLevels() {
		subscribe = append(subscribe, a.topics.Down(level))
	}
	session := newSession(a)
	a.link = cloud.NewLink(cloud.LinkOptions{
		URL: c.URL, ClientID: "roomgate-" + a.config.Gateway.ID, Login: a.Claim.Login, TLS: secure,
		Will: session.will, Birth: session.birth, Farewell: session.farewell,
		Subscribe: subscribe, Receive: a.receive, Up: a.cloudUp, Contested: (&duplicateID{agent: a}).tell,
		Dial: o.Dial, Log: a.log,
	})
	a.uplink = cloud.NewUplink(a.link, outbox{a}, cloud.UplinkOptions{
		Acks: c.Acks, Rate: c.Rate, History: outbox{a}.rows, Log: a.log})
	return nil
}

// tlsConfig trusts the pinned authority if there is one, else the system's.
func tlsConfig(c config.Cloud) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read cloud.ca_file: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cloud.ca_file %s holds no certificate", c.CAFile)
		}
	}
	if c.ClientCertificate != "" {
		pair, err := tls.LoadX509KeyPair(c.ClientCertificate, c.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("read cloud.client_certificate: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

func (a *Agent) runCloud(ctx context.Context) error {
	if a.link == nil {
		return nil
	}
	loops, ctx := errgroup.WithContext(ctx)
	loops.Go(func() error { return a.link.Run(ctx) })
	loops.Go(func() error { return a.uplink.Run(ctx) })
	loops.Go(func() error { return a.beat(ctx) })
	loops.Go(func() error { return crew(ctx, a, spacesOf, a.sendStates) })
	if err := loops.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// cloudUp follows each connection, once the birth message is out.
func (a *Agent) cloudUp(context.Context) {
	a.uplink.Wake()
	for _, s := range a.spaces() {
		s.changed()
	}
}

// receive sorts what came down. What cannot be understood is acknowledged, as it
// would not be better the second time: it gets a receipt if it has an id, else
// it is dropped.
func (a *Agent) receive(ctx context.Context, m cloud.Message) error {
	up, level, _, ok := a.topics.Parse(m.Topic)
	take := a.down()[level]
	if !ok || up || take == nil {
		a.log.Warn("a message on an unknown topic was dropped", "topic", m.Topic)
		return nil
	}
	decode := cloud.Decode
	if level == "schedule" || level == "config" {
		decode = cloud.DecodeSchedule
	}
	e, err := decode(m.Payload)
	e.Retained = m.Retained
	if err == nil {
		err = cloud.CheckAttributes(m.Payload)
	}
	if err != nil && e.ID == "" {
		a.log.Warn("a message that cannot be understood was dropped", "topic", m.Topic, "error", err)
		return nil
	}
	if err == nil && !cloud.TypeFits(level, e.Type) {
		err = refuse(Invalid, "type", "is %q, want %q on this topic", e.Type, cloud.TypeOf(level))
	}
	if err == nil && !m.Retained {
		a.clock.witness(e.Time)
	}
	if err == nil {
		return take(ctx, e)
	}
	switch level {
	case "config":
		return a.refuseConfig(ctx, e, AsError(err))
	case "command":
		return a.refuseUnread(ctx, e, AsError(err))
	}
	return a.refuseMessage(ctx, e, AsError(err))
}

func (a *Agent) takeAck(ctx context.Context, e cloud.Envelope) error {
	var data struct {
		Sequence *uint64 `json:"sequence"`
	}
	if err := e.DataInto(&data); err != nil {
		return a.refuseMessage(ctx, e, AsError(err))
	}
	if data.Sequence == nil {
		return a.refuseMessage(ctx, e, refuse(Invalid, "sequence", "is missing"))
	}
	a.uplink.Acked(*data.Sequence)
	return nil
}

func (a *Agent) takeReplay(ctx context.Context, e cloud.Envelope) error {
	var data struct {
		From uint64 `json:"from"`
		To   uint64 `json:"to"`
	}
	if err := e.DataInto(&data); err != nil {
		return a.refuseMessage(ctx, e, AsError(err))
	}
	if data.From == 0 || data.To != 0 && data.To < data.From {
		return a.refuseMessage(ctx, e, refuse(Invalid, "data", "is no range: want from, and to not before it"))
	}
	if !a.uplink.Replay(data.From, data.To) {
		return a.refuseMessage(ctx, e, refuse(Unavailable, "", "too many replays wait: ask again when one is through"))
	}
	return nil
}
