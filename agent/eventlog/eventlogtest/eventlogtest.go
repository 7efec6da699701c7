// Package eventlogtest reads what a building has told, for the rigs of tests.
package eventlogtest

import (
	"cmp"
	"strings"
	"testing"

	"roomgate/agent/eventlog"
)

// most is how many events a test tells at most.
const most = 1000

// Kinds are the kinds of the events so far, oldest first.
func Kinds(t testing.TB, log *eventlog.Log) (kinds []string) {
	t.Helper()
	for _, e := range all(t, log) {
		kinds = append(kinds, e.Type)
	}
	return kinds
}

// Told are the events so far as "kind device", oldest first.
func Told(t testing.TB, log *eventlog.Log) (told []string) {
	t.Helper()
	for _, e := range all(t, log) {
		told = append(told, strings.TrimSpace(e.Type+" "+cmp.Or(e.SubDevice, e.DeviceType)))
	}
	return told
}

func all(t testing.TB, log *eventlog.Log) []eventlog.Event {
	t.Helper()
	events, _, err := log.Find(eventlog.Filter{Limit: most})
	if err != nil {
		t.Fatal(err)
	}
	return events
}
