package api

import (
	"strings"
	"sync"
	"time"

	"roomgate/agent"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/web"
	"roomgate/drivers"
)

const (
	// cloudAwayAfter is for how long the cloud is away before a door says so.
	cloudAwayAfter = time.Minute
	// maxToday bounds the bookings that a page draws.
	maxToday = 100
	// seenFor is how long what the log said of people in a room is not asked again.
	seenFor = time.Minute
	// firstLook is how long after its start a gateway finds what has changed before.
	firstLook = time.Minute
	// leafLook is how often a page looks at the leaf of a door: its moves are no events.
	leafLook = 2 * time.Second
)

// doors are the pages of all rooms.
type doors struct {
	agent *agent.Agent

	mu    sync.Mutex
	feeds map[string]*web.Feed[web.View]
	since map[string]seenSince
}

// seenSince is since when a room is as it was seen, as the log said.
type seenSince struct {
	value     string
	at, asked time.Time
}

func newDoors(a *agent.Agent) *doors {
	return &doors{agent: a, feeds: map[string]*web.Feed[web.View]{}, since: map[string]seenSince{}}
}

// feed is the one that all who look at the page of a space read.
func (d *doors) feed(id string) (*web.Feed[web.View], error) {
	if _, err := d.agent.Site.Space(id); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for known := range d.feeds { // those of rooms that are gone
		if d.agent.Site.Find(known) == nil {
			delete(d.feeds, known)
			delete(d.since, known)
		}
	}
	f := d.feeds[id]
	if f == nil {
		f = web.NewFeed(d.agent.Events.Boot(), web.Source[web.View]{
			Changed: d.agent.Events.Changed,
			View:    func() (web.View, time.Time, error) { return d.view(id) },
			Render:  web.RenderDoor,
		})
		d.feeds[id] = f
	}
	return f, nil
}

// view is what the page of a space shows now, and until when.
func (d *doors) view(id string) (v web.View, until time.Time, err error) {
	space, err := d.agent.Site.Space(id)
	if err != nil {
		return v, until, err
	}
	now, state, c := d.agent.Now(), space.Room.State(), space.Room.Config()
	rules := space.Room.Terms()
	v = web.View{SpaceID: id, Name: space.Name, Place: whereabouts(c.Room, c.IndoorLocation), Now: now.Truncate(time.Minute).In(rules.Zone),
		Look:         web.Look{Language: c.Display.Language, Twelve: c.Display.Twelve(), Theme: c.Display.Theme},
		ClockTrusted: state.TimeTrust == clock.Trusted, Rules: rules, State: space.Room.At(now), Hold: state.Hold,
		ShowTitles: c.Booking.ShowTitles, Presence: state.Occupancy.Value,
		Lock: partOf(space, drivers.TypeLock), Leaf: leafOf(space), Light: partOf(space, drivers.TypeLight)}
	until = time.Now().Add(v.Now.Add(time.Minute).Sub(now))
	if at := v.State.Until; at.After(now) && at.Sub(now) < time.Until(until) {
		until = time.Now().Add(at.Sub(now))
	}
	if v.Leaf != nil && time.Until(until) > leafLook {
		until = time.Now().Add(leafLook)
	}
	if !v.State.NextAvailable.After(now) {
		v.State.NextAvailable = time.Time{} // it goes on with the time
	}
	v.Today = today(space.Room, v.Now)
	if away := d.agent.Cloud.Away(); away > cloudAwayAfter {
		v.CloudAway = now.Add(-away).Round(time.Second).Truncate(time.Minute)
	}
	local := v.Now
	v.Night = c.Display.Dark(local.Hour()*60+local.Minute()) && v.Presence != schedule.Occupied
	return v, until, nil
}

// whereabouts is where a room is, in what is known of it.
func whereabouts(parts ...string) string {
	var known []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			known = append(known, p)
		}
	}
	return strings.Join(known, ", ")
}

// today are the bookings of the local day that hold their time, or held it: one
// that people ended before its start did not.
func today(r *schedule.Room, now time.Time) (all []booking.Booking) {
	y, m, d := now.Date()
	from, to := time.Date(y, m, d, 0, 0, 0, 0, now.Location()), time.Date(y, m, d+1, 0, 0, 0, 0, now.Location())
	for _, b := range r.Bookings().All(from, to) {
		if (b.Live() || b.State == booking.Ended && b.End.After(b.Start) && (b.EndedAt.IsZero() || b.EndedAt.After(b.Start))) && len(all) < maxToday {
			all = append(all, b)
		}
	}
	return all
}

// partOf is a device of a space as a door tells of it; nil: there is none.
func partOf(s *site.Space, deviceType string) *web.Device {
	r, ok := readingOf(s, deviceType, "")
	if !ok {
		return nil
	}
	return &web.Device{Value: r.Value, Offline: r.Offline()}
}

// leafOf is the leaf of the door of a space; nil: no contact watches it.
func leafOf(s *site.Space) *web.Device {
	r, ok := readingOf(s, drivers.TypeLock, "")
	value := web.Leaf(r.Details)
	if !ok || value == "" {
		return nil
	}
	return &web.Device{Value: value, Offline: r.Offline()}
}

func readingOf(s *site.Space, deviceType, sub string) (device.Reading, bool) {
	d := s.OfType(deviceType)
	if d == nil || !d.Live().Enabled {
		return device.Reading{}, false
	}
	return d.Reading(sub)
}

// evidence is what is known while somebody asks why a room is as it is.
func (d *doors) evidence(s *site.Space) (e web.Evidence, err error) {
	if r, ok := readingOf(s, drivers.TypeO3, drivers.SubOccupancy); ok && !r.Offline() && r.Value != "" {
		e.Sensed, e.SensedAgo = true, time.Since(r.ObservedAt)
		e.Since, err = d.seen(s.ID, r.Value)
	}
	for _, x := range []struct{ name, kind string }{{"lock", drivers.TypeLock}, {"light", drivers.TypeLight}} {
		r, ok := readingOf(s, x.kind, "")
		if !ok {
			continue
		}
		t := web.Thing{Name: x.name, Value: r.Value, Source: r.Source, Ago: time.Since(r.ObservedAt), Offline: r.Offline()}
		if leaf := web.Leaf(r.Details); x.name == "lock" && leaf != "" {
			e.Things = append(e.Things, web.Thing{Name: "door", Value: leaf, Source: "contact line", Ago: t.Ago, Offline: t.Offline})
		}
		e.Things = append(e.Things, t)
	}
	return e, err
}

// seen is since when a room is as it was seen, as the log tells; zero: it does not.
func (d *doors) seen(id, value string) (time.Time, error) {
	d.mu.Lock()
	known := d.since[id]
	d.mu.Unlock()
	if known.value == value && time.Since(known.asked) < seenFor {
		return known.at, nil
	}
	found, _, err := d.agent.Events.Latest(eventlog.Filter{SpaceID: id, DeviceType: drivers.TypeO3, SubDevice: drivers.SubOccupancy,
		Types: []string{device.EventOccupancyChanged, device.EventOnline, device.EventOffline}, Limit: 2})
	if err != nil {
		return time.Time{}, err
	}
	known = seenSince{value, sinceOf(found, d.agent.Events.Boot(), d.agent.Now().Add(-d.agent.Health.Uptime())), time.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since[id] = known
	return known.at, nil
}

// sinceOf is since when it is known that a room is as it was seen last, by the last two events of
// its sensor; zero: it is not known. Before the gateway began, or while the sensor was away, nobody
// saw people come and go: what is seen first after that may be older.
func sinceOf(found []eventlog.Event, boot string, began time.Time) time.Time {
	n := len(found)
	if n == 0 || found[n-1].Type != device.EventOccupancyChanged || found[n-1].Boot != boot || found[n-1].Time.Before(began.Add(firstLook)) {
		return time.Time{}
	}
	if n > 1 && found[n-2].Type == device.EventOnline && found[n-2].Time.Equal(found[n-1].Time) {
		return time.Time{}
	}
	return found[n-1].Time
}

// displayID is the edge device that asks; empty: it is somebody with another key, who
// lets no phone in, or it would have rights that he does not have.
func (p principal) displayID() string {
	if p.Kind != agent.KindEdge {
		return ""
	}
	return p.ID
}
