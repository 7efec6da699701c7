package api

import (
	"slices"
	"strconv"
	"strings"

	"roomgate/agent"
	"roomgate/agent/eventlog"
	"roomgate/agent/rule"
	"roomgate/agent/spelling"
)

// eventKinds are the events that a gateway can tell of, sorted, beside those that
// rules raise, which begin with rule.OwnEvent.
func eventKinds() []string {
	kinds := slices.Concat(auditKinds(), []string{plainAudit}, agent.EventKinds())
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// knownKind refuses an event that this gateway does not tell of, and has not told of.
func (s *streams) knownKind(kind string) error {
	if kind == "" || strings.HasPrefix(kind, rule.OwnEvent) {
		return nil
	}
	known := eventKinds()
	if slices.Contains(known, kind) {
		return nil
	}
	told, _, err := s.agent.Events.Latest(eventlog.Filter{Type: kind, Limit: 1})
	if err != nil || len(told) > 0 { // by an earlier version
		return err
	}
	if near := spelling.Nearest(kind, known); near != "" {
		return invalid("event_type", "is not known: did you mean "+strconv.Quote(near)+"?")
	}
	return invalid("event_type", "is not known: want one of "+strings.Join(known, ", ")+", or "+rule.OwnEvent+"NAME as rules raise them")
}
