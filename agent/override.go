package agent

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/store"
)

// maxAdditions bounds what is laid over the configuration file at run time.
const maxAdditions = 2000

// maxAddition bounds the configuration of one space or device, in bytes.
const maxAddition = 32 << 10

// addition is a meeting space or a device that was made or changed at run time,
// over the configuration file.
type addition struct {
	ID      string `json:"id"`
	SpaceID string `json:"meeting_space_id,omitempty"` // of a device; empty: it is a space
	Cloud   bool   `json:"cloud,omitempty"`            // the cloud's; else it was made here
	// Data is its configuration as JSON in the keys of the file.
	Data json.RawMessage `json:"-"`
}

// storedAddition is an addition as it is stored: the options of a device may hold a
// password, so its configuration is encrypted under the device secret.
type storedAddition struct {
	addition
	Sealed []byte `json:"sealed"`
}

// key is the addition's in the table; spaces come before devices.
func (p *addition) key() string {
	if p.SpaceID == "" {
		return "1/" + p.ID
	}
	return deviceKey(p.ID)
}

func deviceKey(id string) string { return "2/" + id }

// isDevice says whether a key is that of a device.
func isDevice(key string) bool { return strings.HasPrefix(key, "2/") }

// laid is the addition for the configuration. name begins the fields in errors.
func (p *addition) laid(name string) config.Part {
	return config.Part{Name: name, SpaceID: p.SpaceID, ID: p.ID, Data: p.Data}
}

// loadAdditions reads the additions. One that cannot be read is left out and kept.
func (a *Agent) loadAdditions(tx *store.Tx) {
	a.additions = map[string]*addition{}
	for key, s := range additions.All(tx) {
		data, err := a.keys.Open(key, s.Sealed)
		if err != nil {
			a.log.Error("what was added at run time was stored with another device secret and is left out: add it again", "what", key)
			continue
		}
		p := s.addition
		p.Data = data
		a.additions[key] = &p
	}
	if err := tx.Err(); err != nil {
		a.log.Error("what was added at run time cannot be read and is left out: add it again", "error", err)
	}
}

// layStored lays the additions over the configuration. One that does not fit a new
// version or a changed file is left out.
func (a *Agent) layStored() []config.Space {
	var all, fit []config.Part
	keys := slices.Sorted(maps.Keys(a.additions))
	for _, key := range keys {
		all = append(all, a.additions[key].laid(key))
	}
	spaces, err := a.file.Lay(all...)
	if err == nil {
		return spaces
	}
	spaces = a.file.Spaces
	for _, key := range keys { // to find those that do not
		with, err := a.file.Lay(append(slices.Clone(fit), a.additions[key].laid(key))...)
		if err != nil {
			a.log.Error("what was added at run time does not fit the configuration and is left out", "what", key, "error", err)
			delete(a.additions, key)
			continue
		}
		fit, spaces = append(fit, a.additions[key].laid(key)), with
	}
	return spaces
}

// storeAddition writes an addition; nil takes it away.
func (a *Agent) storeAddition(tx *store.Tx, key string, p *addition) error {
	if p == nil {
		return additions.Delete(tx, key)
	}
	return additions.Put(tx, key, storedAddition{*p, a.keys.Seal(key, p.Data)})
}

// layError is the first problem of a configuration, as a refusal of its field.
func layError(err error) error {
	var all *config.Errors
	if !errors.As(err, &all) {
		return err
	}
	p := all.Problems[0]
	return refuse(Invalid, p.Key, "%s", strings.TrimSpace(strings.TrimPrefix(p.Message, p.Key)))
}
