package console

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/eventwords"
	"roomgate/agent/printable"
	"roomgate/drivers"
)

// events are what happens, as it happens.
func events() Section {
	return Section{Name: "events", Title: "Events", Parts: []string{"filter", "list"}, View: viewEvents}
}

// maxEvents is how many the page shows.
const maxEvents = 100

// Events is what the page shows.
type Events struct {
	Spaces, Types, Devices []Choice
	All                    []EventRow
}

// EventRow is an event in words. All are its details, by the names that programs know them by.
type EventRow struct {
	ID                           uint64
	Time, Type, Where, What, All string
}

func viewEvents(l *Look) (any, time.Time, error) {
	v, names := Events{}, map[string]string{}
	f := eventlog.Filter{SpaceID: l.Query.Get("space"), Type: l.Query.Get("type"), DeviceType: l.Query.Get("device"), Limit: maxEvents,
		Spaces: l.o.Agent.Site.SpacesSeen(l.Who)}
	v.Spaces, v.Types, v.Devices = []Choice{{"", "All", false}}, []Choice{{"", "All", false}}, []Choice{{"", "All", false}}
	for _, s := range l.spaces() {
		names[s.ID] = s.Name
		v.Spaces = append(v.Spaces, Choice{s.ID, s.Name, f.SpaceID == s.ID})
	}
	for _, t := range drivers.Types() {
		v.Devices = append(v.Devices, Choice{t, typeWords[t], f.DeviceType == t})
	}
	for _, kind := range slices.Sorted(slices.Values(l.o.Kinds)) {
		v.Types = append(v.Types, Choice{kind, eventwords.Kind(kind), f.Type == kind})
	}
	found, err := l.recent.Look(l.o.Agent.Events, f)
	if err != nil {
		return nil, time.Time{}, err
	}
	for _, e := range slices.Backward(l.o.EventsSeenBy(&l.Who, found)) {
		v.All = append(v.All, l.eventRow(e, names))
	}
	return v, time.Time{}, nil
}

func (l *Look) eventRow(e eventlog.Event, names map[string]string) EventRow {
	zone := l.zone()
	var r struct {
		Details map[string]any `json:"details"`
	}
	_ = json.Unmarshal(e.Record, &r) // we wrote it
	if id, _ := r.Details["booking_id"].(string); id != "" && r.Details["title"] == nil {
		if b, err := l.o.Agent.Bookings.Get(id); err == nil {
			r.Details["title"] = printable.Clean(l.o.SeenBy(&l.Who, b).Title)
		}
	}
	text := func(name string) string { s, _ := r.Details[name].(string); return s }
	if text("name") == "" && l.Role() >= Admin {
		if name := l.nameOf(text); name != "" {
			r.Details["name"] = name
		}
	}
	all := eventwords.Details(r.Details, true, e.Time, zone)
	for _, name := range []string{"value", "previous"} {
		if value, ok := r.Details[name].(string); ok {
			r.Details[name] = worded(e.DeviceType, value, nil)
		}
	}
	return EventRow{e.Cursor, e.Time.In(zone).Format("2 Jan 15:04:05"), eventwords.Kind(e.Type), joined(" / ", names[e.SpaceID], joined(", ", cmp.Or(typeWords[e.DeviceType], e.DeviceType), e.SubDevice)),
		eventwords.Sentence(e.Type, r.Details, e.Time, zone), all}
}
