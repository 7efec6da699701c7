package agent

import (
	"context"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
)

// Reload lets a changed configuration file take effect while the building runs,
// whole or not at all: its spaces, devices and users. What takes a restart is
// refused by its key.
func (a *Agent) Reload(ctx context.Context, c *config.Config) error {
	if err := a.builders.Lock(ctx); err != nil {
		return err
	}
	defer a.builders.Unlock()
	if key := a.file.Restart(c); key != "" {
		return refuse(NotNow, key, "is changed, which takes a restart")
	}
	cloudy, err := a.storedConfig()
	if err != nil {
		return err
	}
	people, err := c.WithUsers(persons(cloudy.Users))
	if err != nil {
		return layError(err)
	}
	r, err := a.stageSite(ctx, c, nil, nil, "configuration file")
	if err != nil {
		return err
	}
	err = a.Events.Commit(ctx, r.stage(), a.Access.StagePeople(people),
		eventlog.Stage{Show: func() { a.file = c }})
	if err != nil {
		return err
	}
	return a.Bookings.NoteNewSpaces(ctx)
}
