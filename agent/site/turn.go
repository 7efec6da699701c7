package site

import (
	"context"
	"maps"
	"slices"

	"roomgate/agent/config"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Turn is the right to change the site, which one caller has at a time.
type Turn struct{ site *Site }

// Turn waits until nobody else changes the site; its error is that of ctx. End must
// be called in the end.
func (s *Site) Turn(ctx context.Context) (*Turn, error) {
	if err := s.turn.Lock(ctx); err != nil {
		return nil, err
	}
	return &Turn{s}, nil
}

// End lets others change the site again.
func (t *Turn) End() { t.site.turn.Unlock() }

// File is the configuration file as it is in force.
func (t *Turn) File() *config.Config { return t.site.file }

// StageFile checks that another configuration file takes the place of the one in
// force. by is who did it, for the events. It refuses what does not fit the
// overrides.
func (t *Turn) StageFile(ctx context.Context, file *config.Config, by string) (*Change, error) {
	return t.stage(ctx, file, nil, nil, by)
}

// stage checks edits of the overrides over a configuration file, by key; nil takes
// one away. names are what errors call them.
func (t *Turn) stage(ctx context.Context, file *config.Config, edits map[string]*override, names map[string]string, by string) (*Change, error) {
	s := t.site
	c := &Change{site: s, by: by, file: file, edits: edits, overrides: maps.Clone(s.overrides), was: s.Now()}
	for key, one := range edits {
		if one == nil {
			delete(c.overrides, key)
		} else {
			c.overrides[key] = one
		}
	}
	if len(c.overrides) > maxOverrides {
		return nil, problem.New(problem.Full, "", "%d spaces and devices would be laid over the configuration, at most %d can: remove some", len(c.overrides), maxOverrides)
	}
	var lay []config.Part
	for _, key := range slices.Sorted(maps.Keys(c.overrides)) {
		lay = append(lay, c.overrides[key].part(names[key]))
	}
	spaces, err := file.Lay(lay...)
	if err != nil {
		return nil, Refusal(err)
	}
	if c.rooms, err = s.o.Bookings.Stage(ctx, spaces); err != nil {
		return nil, err
	}
	if err := s.o.DB.View(func(tx *store.Tx) error { return c.build(tx, spaces) }); err != nil {
		c.rooms.Release()
		return nil, err
	}
	return c, nil
}

// change checks, stores and shows edits of the overrides.
func (t *Turn) change(ctx context.Context, edits map[string]*override, by string) error {
	c, err := t.stage(ctx, t.File(), edits, nil, by)
	if err != nil {
		return err
	}
	if err := t.site.o.Events.Commit(ctx, c.Stage()); err != nil {
		return err
	}
	return t.site.o.Bookings.NoteNewSpaces(ctx)
}
