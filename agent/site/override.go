package site

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/agent/problem"
	"roomgate/store"
)

// maxOverrides bounds what is laid over the configuration file at run time.
const maxOverrides = 2000

// maxOverride bounds the configuration of one space or device, in bytes.
const maxOverride = 32 << 10

// override is a meeting space or a device that was made or changed at run time,
// over the configuration file.
type override struct {
	ID      string `json:"id"`
	SpaceID string `json:"meeting_space_id,omitempty"` // of a device; empty: it is a space
	Cloud   bool   `json:"cloud,omitempty"`            // the cloud's; else it was made here
	// Data is its configuration as JSON in the keys of the file.
	Data json.RawMessage `json:"-"`
	// User is what speaks for the device at the room broker; nil: somebody else does.
	User *RoomUser `json:"-"`
}

// storedOverride is an override as it is stored: the options of a device may hold
// a password, so its configuration is encrypted under the device secret.
type storedOverride struct {
	override
	Sealed []byte `json:"sealed"`
	User   []byte `json:"user,omitempty"`
}

// key is the override's in the table; spaces come before devices.
func (o *override) key() string {
	if o.SpaceID == "" {
		return spaceKey(o.ID)
	}
	return deviceKey(o.ID)
}

func spaceKey(id string) string  { return "1/" + id }
func deviceKey(id string) string { return "2/" + id }

// isDevice says whether a key is that of a device.
func isDevice(key string) bool { return strings.HasPrefix(key, "2/") }

// part is the override for the configuration. name begins the fields in errors.
func (o *override) part(name string) config.Part {
	return config.Part{Name: name, SpaceID: o.SpaceID, ID: o.ID, Data: o.Data}
}

// loadOverrides reads the overrides. One that cannot be read is left out and kept.
func (s *Site) loadOverrides(tx *store.Tx) {
	s.overrides = map[string]*override{}
	for key, stored := range overrides.All(tx) {
		data, err := s.o.Keys.Open(key, stored.Sealed)
		if err != nil {
			s.o.Log.Error("ignoring a change made in the console, the API or the cloud, stored with another device secret: make it again", "what", key)
			continue
		}
		one := stored.override
		one.Data, one.User = data, openRoomUser(s.o.Keys, key, stored.User)
		s.overrides[key] = &one
	}
	if err := tx.Err(); err != nil {
		s.o.Log.Error("cannot read the changes made in the console, the API or the cloud, ignoring them: make them again", "error", err)
	}
}

// layStored lays the overrides over the configuration. One that does not fit a new
// version or a changed file is left out.
func (s *Site) layStored() []config.Space {
	var all, fit []config.Part
	keys := slices.Sorted(maps.Keys(s.overrides))
	for _, key := range keys {
		all = append(all, s.overrides[key].part(key))
	}
	spaces, err := s.file.Lay(all...)
	if err == nil {
		return spaces
	}
	spaces = s.file.Spaces
	for _, key := range keys { // to find those that do not
		with, err := s.file.Lay(append(slices.Clone(fit), s.overrides[key].part(key))...)
		if err != nil {
			s.o.Log.Error("ignoring a change made in the console, the API or the cloud, which does not fit the configuration", "what", key, "error", err)
			delete(s.overrides, key)
			continue
		}
		fit, spaces = append(fit, s.overrides[key].part(key)), with
	}
	return spaces
}

// storeOverride writes an override; nil takes it away.
func (s *Site) storeOverride(tx *store.Tx, key string, one *override) error {
	if one == nil {
		return overrides.Delete(tx, key)
	}
	return overrides.Put(tx, key, storedOverride{*one, s.o.Keys.Seal(key, one.Data), one.User.seal(s.o.Keys, key)})
}

// Refusal is the first problem of a configuration, as a refusal of its field; any
// other error stays as it is.
func Refusal(err error) error {
	var all *config.Errors
	if !errors.As(err, &all) {
		return err
	}
	p := all.Problems[0]
	return problem.New(problem.Invalid, p.Key, "%s", strings.TrimSpace(strings.TrimPrefix(p.Message, p.Key)))
}
