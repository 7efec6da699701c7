package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/outgoing"
	"roomgate/agent/push"
	"roomgate/agent/webhook"
)

// The hosts that only a demo has, in its own process. Everything else is
// reached as a gateway reaches it.
const (
	demoReceiver = "receiver.demo" // takes webhook notifications
	demoPush     = "push.demo"     // takes messages to mobile devices
)

// maxTaken bounds what a stand-in reads of a request, in bytes.
const maxTaken = 64 << 10

// demoHost answers requests to a host of a demo, instead of a network.
type demoHost struct {
	host    string
	outside http.RoundTripper
	answer  func(r *http.Request, body []byte) (status int)
}

// RoundTrip answers, or lets the network do it.
func (d demoHost) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Hostname() != d.host {
		return d.outside.RoundTrip(r)
	}
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxTaken)); err != nil {
			return nil, err
		}
	}
	status := d.answer(r, body)
	return &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// receiverClient sends notifications, those to the stand-in receiver to it. A
// path as /status/500 makes it answer that.
func receiverClient(p outgoing.Policy, log *slog.Logger, kept *received) *http.Client {
	outside := webhook.NewClient(p).Transport
	return &http.Client{Transport: demoHost{demoReceiver, outside, func(r *http.Request, body []byte) int {
		var p webhook.Payload
		_ = json.Unmarshal(body, &p) // it is shown as it is
		status := http.StatusOK
		if wanted, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/status/")); err == nil && wanted >= 200 && wanted < 600 {
			status = wanted
		}
		kept.keep(reception{time.Now().UTC().Truncate(time.Millisecond), r.Method, r.URL.String(), r.Header.Clone(), string(body), status})
		log.Info("receiver got", "event", p.Event, "id", r.Header.Get(webhook.HeaderID), "answers", status, "headers", strings.Join(headerLines(r.Header), "; "), "body", string(body))
		return status
	}}}
}

// telephoneClient sends messages to the stand-in push gateway.
func telephoneClient(log *slog.Logger) *http.Client {
	return &http.Client{Transport: demoHost{demoPush, push.NewClient(nil).Transport, func(r *http.Request, body []byte) int {
		var m struct{ Topic, Title, Message string }
		if err := json.Unmarshal(body, &m); r.Method != http.MethodPost || err != nil {
			return http.StatusOK // somebody looks whether it is well
		}
		log.Info("telephone shows", "topic", m.Topic, "title", m.Title, "message", m.Message)
		return http.StatusOK
	}}}
}
