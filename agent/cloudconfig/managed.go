package cloudconfig

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/cloudcommand"
	"roomgate/agent/cloudkey"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/unlock"
	"roomgate/store"
)

// Options are the nouns that the cloud configures.
type Options struct {
	DB     *store.DB
	Events *eventlog.Log
	Log    *slog.Logger
	Keys   *auth.Keys // what somebody could use who reads the database is sealed under them

	Commands *device.Commands // which answer what comes
	Site     *site.Site
	Bookings *schedule.Book
	Access   *access.Directory
	Unlock   *unlock.Codes
	Rules    *engine.Engine
	Signers  *cloudkey.Signers

	// Doors are those of a site.
	Doors func(*site.Index) []unlock.Door
	// RuleSite is a site as rules see it.
	RuleSite func(*site.Index) *engine.Site

	// Spread takes what the cloud wants for cloud.reconnect_spread, in seconds up to
	// 60; 0: what is configured.
	Spread func(seconds int)
}

// Configuration is what the cloud configures of the building: it takes what the cloud sends,
// and knows which release is to run.
type Configuration struct {
	o        Options
	update   atomic.Pointer[string]
	revision atomic.Uint64
	doubted  atomic.Pointer[[]string] // ids of rules
	budget   *cloudcommand.Budget     // of what nobody has signed
}

// Open reads the stored configuration.
func Open(_ context.Context, o Options) (*Configuration, error) {
	m := &Configuration{o: o, budget: cloudcommand.NewBudget(o.Signers)}
	c, err := stored(o.DB, o.Keys)
	m.update.Store(&c.Update)
	m.show(c)
	o.Spread(c.Spread)
	return m, err
}

func (m *Configuration) show(c storedConfig) {
	doubted := c.doubted()
	m.revision.Store(c.Revision)
	m.doubted.Store(&doubted)
}

// Doubted says whether a rule came from the cloud without a signature.
func (m *Configuration) Doubted(ruleID string) bool {
	return slices.Contains(*m.doubted.Load(), ruleID)
}

// People are those of a configuration file and those that the cloud has named.
// It refuses a file that the cloud's do not fit.
func (m *Configuration) People(file *config.Config) ([]config.Person, error) {
	c, err := stored(m.o.DB, m.o.Keys)
	if err != nil {
		return nil, err
	}
	people, err := file.WithUsers(persons(c.Users))
	if err != nil {
		return nil, site.Refusal(err)
	}
	return people, nil
}

// Budget bounds what the cloud says without a signature.
func (m *Configuration) Budget() *cloudcommand.Budget { return m.budget }

// UpdateURL is where the release is that the cloud wants this gateway to have, or "".
func (m *Configuration) UpdateURL() string { return *m.update.Load() }

// Revision is that of the configuration of the cloud that is in force; 0: there is none.
func (m *Configuration) Revision() uint64 { return m.revision.Load() }

// mostSpread bounds what the cloud may want for cloud.reconnect_spread, in seconds.
const mostSpread = 60

// spread checks over how long the gateways of the cloud are to come back.
func (c *configuring) spread() error {
	if c.down.Spread == nil {
		return nil
	}
	s := *c.down.Spread
	if s < 0 || s > mostSpread {
		return problem.New(problem.Invalid, "reconnect_spread_s", "is %d: want 1 to %d seconds, or 0 for what is configured", s, mostSpread)
	}
	c.kept.Spread = s
	c.add(eventlog.Stage{Show: func() { c.o.Spread(s) }})
	return nil
}

// Changed writes down who has changed the configuration.
func Changed(tx *store.Tx, log *eventlog.Log, details map[string]any) error {
	return log.Tell(tx, eventlog.Record{Type: eventChanged, Time: time.Now(), Device: eventlog.GatewayDevice, Details: details})
}
