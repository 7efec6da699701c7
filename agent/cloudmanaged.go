package agent

import (
	"sync/atomic"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/update"
)

// Managed is what of the building the cloud manages: it takes the configuration
// that the cloud sends, and knows which release is to run.
type Managed struct {
	agent  *Agent
	update atomic.Pointer[string]
}

// openManaged reads what is stored of it.
func openManaged(a *Agent) (*Managed, error) {
	m := &Managed{agent: a}
	c, err := a.storedConfig()
	m.update.Store(&c.Update)
	return m, err
}

// UpdateURL is where the release is that the cloud wants this gateway to have, or "".
func (m *Managed) UpdateURL() string { return *m.update.Load() }

// update checks where the release is that the cloud wants.
func (c *configuring) update() error {
	if c.down.Update == nil {
		return nil
	}
	url := c.down.Update.URL
	if url != "" {
		if err := update.CheckURL(url); err != nil {
			return problem.New(problem.Invalid, "update.url", "%s", err)
		}
	}
	c.kept.Update = url
	c.add(eventlog.Stage{Show: func() { c.agent.Managed.update.Store(&url) }})
	return nil
}
