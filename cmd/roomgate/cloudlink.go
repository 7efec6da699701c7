package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"roomgate/cloud"
	"roomgate/cloud/backend"
)

// cloudPatience is how long a broker may take to be reached; tests of commands
// have less of it.
var cloudPatience = 10 * time.Second

// cloudLook is how long is listened to what a broker keeps of gateways.
const cloudLook = time.Second

// cloudFlags are those of a command that talks to gateways by way of the
// cloud's broker.
func cloudFlags(cmd *cobra.Command) {
	cmd.Flags().String("cloud", "mqtt://"+demoCloudListen, withVariable("`URL` of the cloud's broker, mqtt:// or mqtts://", "cloud"))
	cmd.Flags().String("data", "", withVariable("`DIR` of a demo, whose stand-in cloud is meant without --cloud", "data"))
	cmd.Flags().String("username", "", "`NAME` at the broker; its password is taken from ROOMGATE_CLOUD_PASSWORD")
	tlsFlags(cmd)
	outputFlag(cmd)
}

// cloudLink is a connection to the cloud's broker that acknowledges nothing for
// a backend: what gateways send stays in their outboxes.
type cloudLink struct {
	*cloud.Link
	source string
	signer *backend.Signer // nil: nothing is signed
	heard  chan cloud.Message
	ended  sync.WaitGroup
	stop   func()
}

// dialCloud connects as --username, and returns once the topics are subscribed to.
func dialCloud(cmd *cobra.Command, topics ...string) (*cloudLink, error) {
	password := func() (string, error) { return os.Getenv("ROOMGATE_CLOUD_PASSWORD"), nil }
	return dialCloudAs(cmd, cloud.LoginAs(text(cmd, "username"), password), topics...)
}

func dialCloudAs(cmd *cobra.Command, login func() (string, string, error), topics ...string) (*cloudLink, error) {
	address, err := cloudAddress(cmd)
	if err != nil {
		return nil, err
	}
	if err := cloud.CheckURL(address); err != nil {
		return nil, fail(exitUsage, "--cloud: %w", err)
	}
	secure, err := cloudTLS(cmd)
	if err != nil {
		return nil, err
	}
	id := "roomgate-cli-" + strings.ToLower(ulid.Make().String())
	l := &cloudLink{source: id, heard: make(chan cloud.Message, 1024)}
	up := make(chan struct{})
	first := sync.OnceFunc(func() { close(up) })
	l.Link = cloud.NewLink(cloud.LinkOptions{URL: address, ClientID: id, Fleeting: true,
		Login: login, TLS: secure, Subscribe: topics, Up: func(context.Context) { first() }, Log: slog.New(slog.DiscardHandler),
		Receive: func(ctx context.Context, m cloud.Message) error {
			select {
			case l.heard <- m:
			case <-ctx.Done():
			}
			return nil
		}})
	ctx, stop := context.WithCancel(cmd.Context())
	l.stop = stop
	l.ended.Go(func() { _ = l.Run(ctx) })
	for end := time.After(cloudPatience); l.Trouble().Cause != cloud.CauseLogin && l.Trouble().Cause != cloud.CauseUntrusted; {
		select {
		case <-up:
			return l, nil
		case <-time.After(50 * time.Millisecond):
			continue
		case <-ctx.Done():
		case <-end:
		}
		break
	}
	l.close()
	if l.Trouble().Cause == cloud.CauseLogin {
		return nil, fail(exitUnreachable, "the broker %s refuses the log-in: see who may log in there, and with which password", address)
	}
	if l.Trouble().Cause == cloud.CauseUntrusted {
		return nil, fail(exitUnreachable, "the certificate of the broker %s is not trusted: name the authority that signed it with --ca-file, and the broker as its certificate does", address)
	}
	return nil, fail(exitUnreachable, "the broker %s does not answer: start \"roomgate demo\" or \"roomgate cloud serve\", or name another with --cloud", address)
}

// cloudAddress is the URL of the broker: the one that is named, else that of the demo whose
// folder is named, else that of a demo.
func cloudAddress(cmd *cobra.Command) (string, error) {
	address, _, named := given(cmd.Flags(), "cloud")
	dir := text(cmd, "data")
	if named || dir == "" {
		return address, nil
	}
	path, err := findSocket(dir)
	if err != nil {
		return "", err
	}
	var answer struct {
		URL string `json:"url"`
	}
	if err := overSocket(path, answerTime).call(cmd.Context(), http.MethodGet, "/cloud", nil, &answer); err != nil || answer.URL == "" {
		return "", fail(exitRefused, "the gateway of %s has no stand-in cloud: name the URL of its cloud with --cloud", dir)
	}
	return answer.URL, nil
}

func (l *cloudLink) close() {
	l.stop()
	l.ended.Wait()
}

// next is the next message within a time; false: there was none.
func (l *cloudLink) next(ctx context.Context, wait <-chan time.Time) (cloud.Message, bool) {
	select {
	case m := <-l.heard:
		return m, true
	case <-wait:
	case <-ctx.Done():
	}
	return cloud.Message{}, false
}

// ask sends data on a gateway's topic and waits, as long as --wait says, for the
// receipt that settles it.
func (l *cloudLink) ask(cmd *cobra.Command, gateway, level string, data any) (receipt, error) {
	id, err := l.send(cmd.Context(), gateway, level, data)
	if err != nil {
		return receipt{}, err
	}
	wait, _ := cmd.Flags().GetDuration("wait")
	return l.receipt(cmd.Context(), id, wait)
}

// send sends data on a gateway's topic, in parts if need be, and returns the message's id.
func (l *cloudLink) send(ctx context.Context, gateway, level string, data any) (string, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	id := ulid.Make().String()
	parts, err := backend.Parts(gateway, level, id, raw, l.signer != nil)
	if err != nil {
		return "", fail(exitRefused, "%w", err)
	}
	for _, p := range parts {
		e := cloud.Envelope{ID: p.ID, Source: l.source, Type: cloud.TypeOf(level), Time: time.Now().UTC(), Data: p.Data}
		payload, err := l.signer.Encode(p.Topic, e)
		if err == nil {
			err = l.Publish(ctx, cloud.Message{Topic: p.Topic, Payload: payload, QoS: 1, Retained: level == cloud.LevelConfig})
		}
		if err != nil {
			return "", err
		}
	}
	return id, nil
}

// receipt waits for the receipt that settles a message.
func (l *cloudLink) receipt(ctx context.Context, id string, patience time.Duration) (r receipt, err error) {
	end := time.After(patience)
	for {
		m, ok := l.next(ctx, end)
		if !ok {
			if r.State != "" {
				return r, fail(exitFailed, "the command %s is %s, and its outcome has not come within %v: it comes on up/receipt", id, r.State, patience)
			}
			return r, fail(exitUnreachable, "no receipt has come within %v: is the gateway online? \"roomgate cloud fleet\" says so", patience)
		}
		var e cloud.Envelope
		var said receipt
		if json.Unmarshal(m.Payload, &e) != nil || json.Unmarshal(e.Data, &said) != nil || said.CommandID != id {
			continue
		}
		if r = said; r.State != "accepted" {
			return r, nil
		}
	}
}
