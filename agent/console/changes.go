package console

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"roomgate/agent/eventlog"
)

// changes are who changed what.
func changes() Section {
	return Section{Name: "changes", Title: "Log of changes", Hidden: true, Least: Admin, Parts: []string{"list"}, View: viewChanges}
}

// Changes is what the page shows.
type Changes struct{ List Table }

// changeKinds are the events of changes that nouns write by themselves, beside those of
// requests.
var changeKinds = []string{"configurationChanged", "deviceEnabled", "deviceDisabled", "deviceCreated", "deviceChanged", "deviceRemoved", "spaceCreated",
	"spaceChanged", "spaceRemoved", "edgeRegistered", "edgeDeleted", "unlockCodeCreated", "unlockCodeUpdated", "unlockCodeDeleted", "codeLockoutLifted",
	"gatewayClaimed", "gatewayReleased"}

func viewChanges(l *Look) (any, time.Time, error) {
	_, names := l.spaceChoices()
	found, err := l.recent.Look(l.o.Agent.Events, eventlog.Filter{Types: slices.Concat(changeKinds, l.o.Audited), Limit: maxEvents, Spaces: l.o.Agent.Site.SpacesSeen(l.Who)})
	t := Table{Label: "Changes, the newest first", Head: []string{"Time", "Who", "What", "Where", "Details"}, None: "Nothing was changed yet."}
	for _, e := range slices.Backward(found) {
		who, rest := l.changedBy(e.Record)
		e.Record = rest
		row := l.eventRow(e, names)
		t.Rows = append(t.Rows, Row{Cells: []string{row.Time, who, row.Type, row.Where, row.What}, Fold: &row})
	}
	return Changes{t}, time.Time{}, err
}

// changedBy is who made a change, and its record without that.
func (l *Look) changedBy(record json.RawMessage) (who string, rest json.RawMessage) {
	var r struct {
		Details map[string]any `json:"details"`
	}
	_ = json.Unmarshal(record, &r) // we wrote it
	text := func(name string) string { s, _ := r.Details[name].(string); return s }
	who = text("by")
	if kind := text("by_kind"); kind != "" && kind != who {
		who += " (" + kind + ")"
	}
	if who == "" && text("edge_device_id") != "" {
		who = joined(", ", text("name"), "the device itself")
	}
	for _, name := range []string{"by", "by_id", "by_kind"} {
		delete(r.Details, name)
	}
	rest, _ = json.Marshal(r) // it was JSON
	return cmp.Or(who, "-"), rest
}

// nameOf is how people know what a change was about, whose id it tells; empty: it is gone.
func (l *Look) nameOf(detail func(name string) string) string {
	if id := detail("webhook_id"); id != "" {
		w, _ := l.o.Agent.Webhooks.Get(id) // one that is gone has no address
		return w.URL
	}
	if id := detail("rule_id"); id != "" {
		r, _ := l.o.Agent.Rules.Get(id) // the same
		return r.Name
	}
	if id := detail("user_id"); id != "" {
		if u := l.o.Agent.Access.User(id); u != nil {
			return cmp.Or(u.Email, u.Name)
		}
	}
	return ""
}
