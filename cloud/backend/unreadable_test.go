package backend

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"roomgate/cloud"
)

// Messages that nobody can read do not fill the log.
func TestUnreadableInTheLog(t *testing.T) {
	var log bytes.Buffer
	b, err := Open(Options{URL: "mqtt://127.0.0.1:1", ClientID: "backend", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		b.read(cloud.Message{Topic: "roomgate/v1/hq/up/enrol", Payload: []byte("x")})
	}
	if n := strings.Count(log.String(), "\n"); n != 10 {
		t.Errorf("300 messages make %d lines", n)
	}
}
