package agent

import (
	"context"

	"roomgate/agent/config"
	"roomgate/agent/problem"
	"roomgate/agent/site"
)

// Reload lets a changed configuration file take effect while the building runs,
// whole or not at all: its spaces, devices and users. What takes a restart is
// refused by its key.
func (a *Agent) Reload(ctx context.Context, c *config.Config) error {
	turn, err := a.Site.Turn(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	if key := turn.File().Restart(c); key != "" {
		return problem.New(problem.NotNow, key, "is changed, which takes a restart")
	}
	cloudy, err := a.storedConfig()
	if err != nil {
		return err
	}
	people, err := c.WithUsers(persons(cloudy.Users))
	if err != nil {
		return site.Refusal(err)
	}
	change, err := turn.StageFile(ctx, c, "configuration file")
	if err != nil {
		return err
	}
	if err := a.Events.Commit(ctx, change.Stage(), a.Access.StagePeople(people)); err != nil {
		return err
	}
	return a.Bookings.NoteNewSpaces(ctx)
}
