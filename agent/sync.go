package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/config"
	"roomgate/cloud"
	"roomgate/store"
)

// ackedCursor names how far the cloud has acknowledged the log.
const ackedCursor = "acked"

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
		"claim":    a.takeClaim,
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
		URL: c.URL, ClientID: "roomgate-" + a.config.Gateway.ID, Login: a.cloudLogin, TLS: secure,
		Will: session.will, Birth: session.birth, Farewell: session.farewell,
		Subscribe: subscribe, Receive: a.receive, Up: a.cloudUp, Contested: a.cloudContested,
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

// receive sorts what came down. What cannot be understood is acknowledged and
// dropped: it would not be better the second time.
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
	if err != nil {
		a.log.Warn("a message that cannot be understood was dropped", "topic", m.Topic, "error", err)
		return nil
	}
	e.Retained = m.Retained
	if !cloud.TypeFits(level, e.Type) {
		refusal := refuse(Invalid, "type", "is %q, want %q on this topic", e.Type, cloud.TypeOf(level))
		if level == "config" {
			return a.refuseConfig(ctx, e, refusal)
		}
		return a.refuseMessage(ctx, e, refusal)
	}
	if level == "command" && m.Retained {
		return a.refuseMessage(ctx, e, refuse(Invalid, "", "a retained command is never carried out: publish it without retain"))
	}
	return take(ctx, e)
}

// downCommand is the data of down/command.
type downCommand struct {
	Space      string          `json:"meeting_space_id"`
	DeviceType string          `json:"device_type"`
	SubDevice  string          `json:"sub_device"`
	Action     string          `json:"action"`
	Value      json.RawMessage `json:"value"`
	ExpiresAt  time.Time       `json:"expires_at"`
	TTL        float64         `json:"ttl_s"`
}

func (a *Agent) takeCommand(ctx context.Context, e cloud.Envelope) error {
	var data downCommand
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return a.refuseMessage(ctx, e, refuse(Invalid, "data", "is no command: %v", err))
	}
	c := Command{ID: e.ID, Space: data.Space, DeviceType: data.DeviceType, SubDevice: data.SubDevice, Action: data.Action,
		Value: data.Value, ExpiresAt: data.ExpiresAt, TTL: seconds(data.TTL), SentAt: e.Time, Via: ViaMQTT, By: e.Source}
	o, _, err := a.accept(ctx, c)
	refusal := AsError(err)
	switch {
	case err == nil:
		return a.answerAgain(ctx, o)
	case refusal.Code == Full, refusal.Code == Internal:
		return err // not stored, so not acknowledged
	}
	return a.refuseCommand(ctx, c, refusal)
}

// seconds is a time to live; beyond a day it makes no difference.
func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0), 86400) * float64(time.Second))
}

// answerAgain sends the receipt of a command that was finished before.
func (a *Agent) answerAgain(ctx context.Context, o *order) error {
	if !o.ended() {
		return nil // its receipts are on their way
	}
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		return a.pushReceipt(tx, Command{Via: ViaMQTT, Space: o.command.Space, DeviceType: o.command.DeviceType, SubDevice: o.command.SubDevice}, o.receipt)
	})
	a.logGrown()
	return err
}

// refuseMessage answers a message that is no command with a receipt.
func (a *Agent) refuseMessage(ctx context.Context, e cloud.Envelope, why *Error, also ...func(*store.Tx) error) error {
	return a.refuseCommand(ctx, Command{ID: e.ID, Via: ViaMQTT, SentAt: e.Time, By: e.Source}, why, also...)
}

// refuseCommand stores that a command was refused, so that the same id gets
// the same answer, and tells the sender. An id that is taken keeps its first
// receipt. What else is to be stored with that is also.
func (a *Agent) refuseCommand(ctx context.Context, c Command, why *Error, also ...func(*store.Tx) error) error {
	now := time.Now().UTC()
	r := Receipt{CommandID: c.ID, ReceivedAt: now, FinishedAt: now}
	r.State, r.Code, r.Reason = outcome(why)
	if r.State == Failed { // it was never accepted
		r.State = Rejected
	}
	a.log.Info("a command from the cloud was refused", "command", c.ID, "state", r.State, "reason", r.Reason)
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		for _, write := range also {
			if err := write(tx); err != nil {
				return err
			}
		}
		if _, err := commands.Get(tx, c.ID); !errors.Is(err, store.ErrNotFound) {
			return errors.Join(err, a.pushReceipt(tx, c, r))
		}
		if err := a.forgetOldest(tx); err != nil {
			return err
		}
		if _, err := commandAges.Push(tx, c.ID); err != nil {
			return err
		}
		if err := commands.Put(tx, c.ID, storedCommand{c, r}); err != nil {
			return err
		}
		return a.pushReceipt(tx, c, r)
	})
	a.logGrown()
	return err
}

func (a *Agent) takeAck(_ context.Context, e cloud.Envelope) error {
	var data struct {
		Sequence uint64 `json:"sequence"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		a.log.Warn("an ack that cannot be understood was dropped", "error", err)
		return nil
	}
	a.uplink.Acked(data.Sequence)
	return nil
}

func (a *Agent) takeReplay(ctx context.Context, e cloud.Envelope) error {
	var data struct {
		From uint64 `json:"from"`
		To   uint64 `json:"to"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil || data.From == 0 || data.To != 0 && data.To < data.From {
		return a.refuseMessage(ctx, e, refuse(Invalid, "data", "is no range: want from, and to not before it"))
	}
	if !a.uplink.Replay(data.From, data.To) {
		return a.refuseMessage(ctx, e, refuse(Unavailable, "", "too many replays wait: ask again when one is through"))
	}
	return nil
}
