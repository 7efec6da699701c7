package agent

import (
	"context"
	"fmt"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/agent/update"
	"roomgate/store"
)

// updateNotice is how long before a meeting the gateway does not restart.
const updateNotice = 15 * time.Minute

// gatewayDevice is what events about the gateway itself name as the device.
const gatewayDevice = "gateway"

// UpdateBusy is why a restart would disturb somebody now, or "": a meeting is
// under way in some meeting space or begins soon, or there are people in it.
func (a *Agent) UpdateBusy() string {
	now := a.Now()
	for _, s := range a.spaces() {
		if why := s.updateBusy(now); why != "" {
			return why
		}
	}
	return ""
}

func (s *space) updateBusy(now time.Time) string {
	g := s.room.At(now)
	clock := func(t time.Time) string { return t.In(s.room.Rules().Zone).Format("15:04") }
	switch {
	case s.presence().Value == schedule.Occupied:
		return fmt.Sprintf("there are people in %s", s.Name)
	case g.Current != nil:
		return fmt.Sprintf("%s has a meeting until %s", s.Name, clock(g.Current.End))
	case g.Next != nil && g.Next.Start.Sub(now) <= updateNotice:
		return fmt.Sprintf("%s has a meeting at %s", s.Name, clock(g.Next.Start))
	}
	return ""
}

// update checks where the release is that the cloud wants.
func (c *configuring) update() error {
	if c.down.Update == nil {
		return nil
	}
	url := c.down.Update.URL
	if url != "" {
		if err := update.CheckURL(url); err != nil {
			return refuse(Invalid, "update.url", "%s", err)
		}
	}
	c.kept.Update = url
	c.add(eventlog.Stage{Show: func() { c.agent.updateURL.Store(&url) }})
	return nil
}

// loadUpdate reads which release the cloud wants.
func (a *Agent) loadUpdate() error {
	c, err := a.storedConfig()
	a.updateURL.Store(&c.Update)
	return err
}

// UpdateURL is where the release is that the cloud wants this gateway to have, or "".
func (a *Agent) UpdateURL() string { return *a.updateURL.Load() }

// NoteUpdate stores an event about the gateway itself.
func (a *Agent) NoteUpdate(ctx context.Context, event string, details map[string]any) error {
	return a.Events.Update(ctx, func(tx *store.Tx) error { return a.tellGateway(tx, event, details) })
}

// tellGateway writes down what happened to the gateway itself.
func (a *Agent) tellGateway(tx *store.Tx, event string, details map[string]any) error {
	return a.Events.Tell(tx, eventlog.Record{Type: event, Time: a.Now(), Device: gatewayDevice, Details: details})
}

// Online says whether the cloud is reached now.
func (a *Agent) Online() bool { return a.Cloud.Connected() }
