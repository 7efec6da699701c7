package agent

import (
	"context"

	"roomgate/agent/cloudconfig"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Reload lets a changed configuration file take effect while the building runs,
// whole or not at all: its spaces, devices and users. A change that takes a restart is
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
	people, err := a.CloudConfig.People(c)
	if err != nil {
		return err
	}
	change, err := turn.StageFile(ctx, c, "configuration file")
	if err != nil {
		return err
	}
	told := eventlog.Stage{Write: func(tx *store.Tx) error {
		return cloudconfig.Changed(tx, a.Events, map[string]any{"by": "configuration file"})
	}}
	if err := a.Events.Commit(ctx, change.Stage(), a.Access.StagePeople(people), told); err != nil {
		return err
	}
	return a.Bookings.NoteNewSpaces(ctx)
}
