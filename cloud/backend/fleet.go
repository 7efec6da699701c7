package backend

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"roomgate/cloud"
)

// Gateway is what a gateway has said of itself, as far as Consume has handed it on.
type Gateway struct {
	ID      string           `json:"gateway_id"`
	Online  bool             `json:"online"`
	Since   time.Time        `json:"since,omitzero"` // when it came or went
	Version string           `json:"version"`        // its release
	Beat    time.Time        `json:"beat,omitzero"`  // the time of the last heartbeat; zero: none came yet
	Report                   // what that says
	Spaces  map[string]Space `json:"meeting_spaces"` // by their ids
	Session string           `json:"session"`        // of the connection that it is online by
	// Contested is when a row of a second gateway with this id came last, as of a clone; zero: none did.
	Contested time.Time `json:"contested,omitzero"`
}

// Report is what a heartbeat says that a fleet is looked through for.
type Report struct {
	Revision uint64 `json:"config_revision"` // of the configuration in force; 0: none, or an earlier release that does not say
	Backlog  uint64 `json:"outbox_depth"`    // rows that the gateway keeps for the backend
	// Certificate is that which the gateway gets from its cloud; nil: none.
	Certificate *Certificate `json:"cloud_certificate,omitempty"`
}

// Certificate is how the certificate of a gateway is.
type Certificate struct {
	State string    `json:"state"` // as good or ended
	Until time.Time `json:"until,omitzero"`
	Seen  string    `json:"seen"` // the state in words
}

// Space is the state of a meeting space that a fleet is looked through for.
type Space struct {
	ID               string   `json:"meeting_space_id"`
	Name             string   `json:"name"`
	Status           string   `json:"status"`
	ScheduleRevision uint64   `json:"schedule_revision"`
	Devices          []Device `json:"devices"`
}

// Device is the last reading of a device.
type Device struct {
	ID        string `json:"device_id"`
	Type      string `json:"device_type"`
	SubDevice string `json:"sub_device,omitempty"`
	Value     string `json:"value"`
	Status    string `json:"status"` // offline: nobody knows whether the value holds
}

// hear notes what a gateway says of itself and hands receipts to those who wait for them. The
// caller has the lock.
func (b *Backend) hear(j job) {
	level, _, _ := strings.Cut(j.Level, "/")
	if level == cloud.LevelReceipt {
		b.settle(j.Gateway, j.Data)
	}
	switch {
	case j.Contested:
	case level == cloud.LevelPresence, level == cloud.LevelHeartbeat, level == cloud.LevelState:
	default:
		return
	}
	g := b.fleet[j.Gateway]
	if g == nil {
		g = &Gateway{ID: j.Gateway, Spaces: map[string]Space{}}
		b.fleet[j.Gateway] = g
	}
	g.Hear(j.Received)
}

// Know tells the backend what was stored of a gateway, before it consumes. Whether it is
// online shows when the gateway or its broker says so.
func (b *Backend) Know(g Gateway) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g = g.clone()
	g.Online, g.Session = false, ""
	b.fleet[g.ID] = &g
}

// Hear notes what a message of the gateway says of it. A message that says nothing of it
// changes nothing.
func (g *Gateway) Hear(m Received) {
	if m.Contested {
		g.Contested = time.Now().UTC()
	}
	level, _, _ := strings.Cut(m.Level, "/")
	var said struct {
		State, Session, Version string
		Report
	}
	switch level {
	case cloud.LevelPresence:
		if json.Unmarshal(m.Data, &said) != nil || said.State == "offline" && g.Session != "" && said.Session != g.Session {
			return // a will that comes late
		}
		g.Online, g.Since, g.Version, g.Session = said.State == "online", m.Time, said.Version, said.Session
	case cloud.LevelHeartbeat:
		if json.Unmarshal(m.Data, &said) == nil {
			g.Beat, g.Version, g.Report = m.Time, said.Version, said.Report
		}
	case cloud.LevelState:
		var s Space
		if json.Unmarshal(m.Data, &s) == nil && s.ID != "" {
			if g.Spaces == nil {
				g.Spaces = map[string]Space{}
			}
			g.Spaces[s.ID] = s
		}
	}
}

// clone is what the caller may keep.
func (g *Gateway) clone() Gateway {
	c := *g
	c.Spaces = maps.Clone(g.Spaces)
	if c.Spaces == nil {
		c.Spaces = map[string]Space{}
	}
	return c
}

// State is what a gateway has said of itself; ok is false of one that was never heard.
func (b *Backend) State(gateway string) (g Gateway, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fleet[gateway] == nil {
		return g, false
	}
	return b.fleet[gateway].clone(), true
}

// Fleet returns the gateways that want accepts, sorted by id; a nil want accepts all. [Gateway.Unlocked],
// [Gateway.Below] and [Gateway.Behind] ask what is most often wanted.
func (b *Backend) Fleet(want func(Gateway) bool) (all []Gateway) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.fleet {
		if c := g.clone(); want == nil || want(c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(x, y Gateway) int { return strings.Compare(x.ID, y.ID) })
	return all
}

// FleetFrom returns at most so many gateways from an id on, sorted by id, the id of the one that
// follows, and of how many all are.
func (b *Backend) FleetFrom(id string, limit int) (some []Gateway, next string, known, online int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for other, g := range b.fleet {
		if g.Online {
			online++
		}
		if other >= id {
			ids = append(ids, other)
		}
	}
	slices.Sort(ids)
	if len(ids) > limit {
		ids, next = ids[:limit], ids[limit]
	}
	for _, other := range ids {
		some = append(some, b.fleet[other].clone())
	}
	return some, next, len(b.fleet), online
}

// Unlocked says whether a lock of the gateway is not known to be closed: it is open, or
// offline.
func (g Gateway) Unlocked() bool {
	for _, s := range g.Spaces {
		for _, d := range s.Devices {
			if d.Type == "lock" && (d.Value != "closed" || d.Status == "offline") {
				return true
			}
		}
	}
	return false
}

// Behind says whether a meeting space of the gateway has an earlier schedule than that.
func (g Gateway) Behind(space string, revision uint64) bool {
	s, ok := g.Spaces[space]
	return ok && s.ScheduleRevision < revision
}

// Below says whether the gateway runs an earlier release than that, as "1.10.0". One that
// has no number, as of a developer, is below all.
func (g Gateway) Below(release string) bool {
	return slices.Compare(numbers(g.Version), numbers(release)) < 0
}

// numbers are those of a release; what follows a dash or a plus does not count.
func numbers(release string) (all []int) {
	release, _, _ = strings.Cut(strings.TrimPrefix(release, "v"), "-")
	release, _, _ = strings.Cut(release, "+")
	for part := range strings.SplitSeq(release, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}
