// Package pull brings what gateways send to backends by JetStream: a backend.Source that
// several backends share.
//
//	source, err := pull.Open(ctx, pull.Options{URL: "nats://n1:4222,nats://n2:4222", Name: "backend-1", User: "backend@1", Password: secret})
//	b, err := backend.Open(backend.Options{URL: "mqtt://n1,mqtt://n2", ClientID: "backend-1", Source: source, ...})
//	err = b.Consume(ctx, ledger, handler)
//
// # Why
//
// One session at a broker hears a whole fleet, and one process with it. The stream UP of
// configs/nats/up.json shares the gateways out over partitions instead, a durable pull
// consumer each, and backends share out the partitions: each has its part, takes over
// what another one leaves or dies with, and gives up what is too much. A message is
// acknowledged to NATS after the ledger's commit, so it waits in the stream until then. What the
// stream loses is still in the building: PUBACK is no proof of it, down/ack is.
package pull

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options say where the stream is. URL, Name and Stream are required.
type Options struct {
	URL      string // nats://host:4222, or several with commas between
	User     string
	Password func() (string, error)
	// Name is that of this backend among those that share the fleet.
	Name string
	// Stream is configs/nats/up.json, with as many partitions as wanted: the stream is made by it
	// if it is not there.
	Stream []byte
	Log    *slog.Logger // nil: slog.Default()
}

// Source is a backend.Source.
type Source struct {
	o          Options
	conn       *nats.Conn
	js         jetstream.JetStream
	shares     jetstream.KeyValue
	stream     string
	partitions int
}

// bucket is where the backends share out the partitions.
const bucket = "UP_SHARES"

// Open connects, and makes the stream if it is not there.
func Open(ctx context.Context, o Options) (s *Source, err error) {
	if o.Name == "" {
		return nil, errors.New("the backend has no name among those that share the fleet: give it one")
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	s = &Source{o: o}
	login := func() (string, string) {
		if o.Password == nil {
			return o.User, ""
		}
		password, err := o.Password()
		if err != nil {
			o.Log.Error("the password for NATS cannot be read", "reason", err)
		}
		return o.User, password
	}
	s.conn, err = nats.Connect(o.URL, nats.Name(o.Name), nats.UserInfoHandler(login), nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond),
		nats.RetryOnFailedConnect(false), nats.IgnoreAuthErrorAbort())
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if s.js, err = jetstream.New(s.conn); err == nil {
		err = s.prepare(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the connection, after Run.
func (s *Source) Close() { s.conn.Close() }

var partitioned = regexp.MustCompile(`^up\.\{\{ ?partition\(([1-9][0-9]{0,3}),1\) ?\}\}\.\{\{ ?wildcard\(1\) ?\}\}\.>$`)

// prepare finds or makes the stream and the bucket.
func (s *Source) prepare(ctx context.Context) error {
	var c jetstream.StreamConfig
	if err := json.Unmarshal(s.o.Stream, &c); err != nil {
		return fmt.Errorf("the stream's configuration: %w", err)
	}
	if s.conn.ConnectedClusterName() == "" {
		c.Replicas = 1
	}
	stream, err := s.js.Stream(ctx, c.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = s.js.CreateStream(ctx, c)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another backend was first
		stream, err = s.js.Stream(ctx, c.Name)
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", c.Name, err)
	}
	has := stream.CachedInfo().Config
	if has.SubjectTransform != nil {
		if m := partitioned.FindStringSubmatch(has.SubjectTransform.Destination); m != nil {
			s.partitions, _ = strconv.Atoi(m[1])
		}
	}
	if s.partitions == 0 || has.Retention != jetstream.WorkQueuePolicy {
		return fmt.Errorf("stream %s is not that of configs/nats/up.json: it shares no gateways out, or keeps what was taken", c.Name)
	}
	s.stream = has.Name
	s.shares, err = s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket, Description: "which backend has which partitions of " + c.Name,
		Replicas: has.Replicas, Storage: jetstream.FileStorage, MaxBytes: 1 << 20})
	if err != nil {
		return fmt.Errorf("bucket %s: %w", bucket, err)
	}
	return nil
}
