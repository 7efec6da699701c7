package agent

import (
	"context"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/store"
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
	defer r.release()
	a.signIn.change.Lock()
	defer a.signIn.change.Unlock()
	err = a.Events.Commit(ctx, eventlog.Stage{Write: func(tx *store.Tx) error {
		for _, p := range people {
			if err := a.bearOrganization(tx, p.OrganizationID); err != nil {
				return err
			}
		}
		return nil
	}}, eventlog.Stage{Write: r.store, Show: r.show, Release: r.release}, eventlog.Stage{Show: func() {
		a.setUsers(people, a.signIn.users.known.Load().marks)
		a.file = c
	}})
	if err != nil {
		return err
	}
	return a.bearPlans(ctx)
}
