package api

import (
	"context"
	"net/http"
	"time"

	"roomgate/agent"
	"roomgate/agent/clock"
	"roomgate/agent/edge"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/agent/problem"
	"roomgate/agent/site"
	"roomgate/agent/strict"
	"roomgate/drivers"
	"roomgate/store"
)

// edgeBeatEvery is how often a board says that it is alive.
const edgeBeatEvery = 30 * time.Second

// pageBeatEvery is how often the page of a room display does, unless the driver of
// the display asks for something else.
const pageBeatEvery = 5 * time.Second

// beaten are the options of a device that is heard of by beats.
type beaten interface {
	// BeatEvery is how often it has to beat, so that one lost beat is no silence.
	BeatEvery() time.Duration
}

// beatEvery is how often an edge device beats: a page as often as the display of its
// space needs.
func (s *Server) beatEvery(d edge.Device) time.Duration {
	if d.Kind != edge.Display {
		return edgeBeatEvery
	}
	if display, err := s.agent.Site.Device(d.SpaceID, drivers.TypeDisplay); err == nil {
		if o, ok := display.Options.(beaten); ok {
			return o.BeatEvery()
		}
	}
	return pageBeatEvery
}

// newPairingCode makes a pairing code, with its audit event: the code is in memory only.
func (s *Server) newPairingCode(ctx context.Context, spaceID string) (code string, life time.Duration, err error) {
	if code, life, err = s.agent.Edges.NewCode(spaceID); err != nil {
		return "", 0, err
	}
	return code, life, s.agent.Events.Update(ctx, func(tx *store.Tx) error { return eventlog.Audit(ctx, tx, nil) })
}

// newClaim makes a pairing code for an edge device, which is shown only now.
func newClaim(s *Server, c *call) error {
	if err := c.decodeAny(); err != nil {
		return err
	}
	code, life, err := s.newPairingCode(c.r.Context(), c.params[0])
	if err != nil {
		return err
	}
	type claim struct {
		SpaceID  string `json:"meeting_space_id"`
		Code     string `json:"claim_code"`
		Link     string `json:"link,omitempty"` // to the page at the door, with the code
		ExpiresS int64  `json:"expires_in_s"`
	}
	return c.wrapped(http.StatusCreated, envelope, claim{c.params[0], code, s.doorLink(c.params[0], code), int64(life / time.Second)})
}

// registered is what an edge device is told once it has claimed its space.
type registered struct {
	DeviceID    string            `json:"device_id"`
	Key         string            `json:"api_key"` // shown only now
	Kind        string            `json:"kind"`
	GatewayID   string            `json:"gateway_id"`
	GatewayName string            `json:"gateway_name"`
	Space       site.MeetingSpace `json:"meeting_space"`
	health.Network
	Time       moment      `json:"time"`
	TimeTrust  clock.Trust `json:"time_trust"`
	HeartbeatS int64       `json:"heartbeat_s"` // how often it is to say that it is alive
}

// registerEdge lets an edge device claim its space. The code is its
// credential.
func registerEdge(s *Server, c *call) error {
	var code string
	var d edge.Device
	err := c.decode(strict.Required("claim_code", &code), strict.Optional("meeting_space_id", &d.SpaceID), strict.Optional("kind", &d.Kind), strict.Optional("name", &d.Name),
		strict.Optional("serial", &d.Serial), strict.Optional("version", &d.Version))
	if err != nil {
		return err
	}
	d.Address = remoteAddress(c.r)
	d, secret, err := s.agent.Edges.Register(c.r.Context(), code, d, clientAddress(c.r))
	if err != nil {
		return err
	}
	state, err := s.agent.Bookings.State(d.SpaceID)
	if err != nil {
		return err
	}
	who := s.agent.Health.Identity()
	answer := registered{DeviceID: d.ID, Key: secret, Kind: d.Kind, GatewayID: who.ID, GatewayName: who.Name, Network: s.agent.Health.Network(),
		Time: moment(s.agent.Now()), TimeTrust: state.TimeTrust, HeartbeatS: int64(s.beatEvery(d) / time.Second)}
	for _, m := range s.agent.Site.MeetingSpaces() {
		if m.ID == d.SpaceID {
			answer.Space = m
		}
	}
	if c.v2 {
		return c.json(http.StatusCreated, typedRegistered{answer, newSpaceRecord(answer.Space)})
	}
	return c.wrapped(http.StatusCreated, envelope, answer)
}

// edgeBeat is what an edge device says of itself when it beats.
type edgeBeat struct {
	id, version string
	uptimeS     int64
}

func (b *edgeBeat) members() []strict.Member {
	return []strict.Member{strict.Optional("device_id", &b.id), strict.Optional("uptime_s", &b.uptimeS), strict.Optional("version", &b.version)}
}

// take notes the beat of an edge device. page says that it shows the page of
// its space, which beats with it; a page that never registered has no id. Who
// comes with the key of an edge device beats for that one.
func (b *edgeBeat) take(s *Server, c *call, space *string) (page bool, err error) {
	if c.who.Kind == agent.KindEdge {
		if b.id != "" && b.id != c.who.ID {
			return false, invalid("device_id", "is not that of the edge device whose key this is: leave it out")
		}
		b.id = c.who.ID
	}
	if b.id == "" {
		if *space == "" {
			return false, invalid("meeting_space_id", "is missing")
		}
		return true, nil
	}
	d, err := s.agent.Edges.Get(b.id)
	if err != nil {
		return false, err
	}
	if err := s.visibility.ownSpace(&c.who, d.SpaceID); err != nil {
		return false, err
	}
	if *space != "" && *space != d.SpaceID {
		return false, &problem.Error{Code: problem.Conflict, Field: "meeting_space_id", Message: "is not the meeting space that the device claimed: leave it out, or register it again"}
	}
	*space = d.SpaceID
	if _, err := s.agent.Edges.Beat(b.id, remoteAddress(c.r), b.uptimeS, b.version); err != nil {
		return false, err
	}
	return d.Kind == edge.Display, nil
}

// edgeRecord is an edge device with what it said of itself since the start.
type edgeRecord struct {
	edge.Device
	LastSeen moment `json:"last_seen_at"` // null: not since the start
	Address  string `json:"address"`      // that it was last heard from; empty: not since the start
	UptimeS  int64  `json:"uptime_s"`
	Version  string `json:"version"`
}

// listEdges lists the edge devices of the building.
func listEdges(s *Server, c *call) error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	records := []edgeRecord{}
	for _, d := range s.agent.Edges.List() {
		records = append(records, edgeRecord{d, moment(d.LastSeen), d.Address, d.UptimeS, d.Version})
	}
	if c.v2 {
		return list(c, q, records, edgeID, newTypedEdge)
	}
	return c.json(http.StatusOK, struct {
		Devices []edgeRecord `json:"edge_devices"`
	}{records})
}

// deleteEdge forgets an edge device.
func deleteEdge(s *Server, c *call) error {
	if err := s.agent.Edges.Delete(c.r.Context(), c.params[0], c.who.Name); err != nil {
		return err
	}
	return c.none()
}
