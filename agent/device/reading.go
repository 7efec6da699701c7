package device

import "time"

// Record is the platform's status record, exactly its three fields.
type Record struct {
	Device string `json:"device"`
	Value  string `json:"value"`
	Status string `json:"status"`
}

// The states of a Record. Normal, High and Low are for temperatures.
const (
	Online  = "online"
	Offline = "offline"
	Normal  = "normal"
	High    = "high"
	Low     = "low"
)

// Reading is what the building knows of a device or a sub-device.
type Reading struct {
	Record
	DeviceID   string         `json:"device_id"`
	DeviceType string         `json:"device_type"`
	SubDevice  string         `json:"sub_device,omitempty"`
	ObservedAt time.Time      `json:"observed_at"` // zero: never observed
	Source     string         `json:"source,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	Reason     string         `json:"reason,omitempty"` // why it is offline

	plain, wrapped []byte // the record encoded, alone and as {"response": record}
}

// Offline says whether the device cannot be relied on now.
func (r Reading) Offline() bool { return r.Status == Offline }

// snapshot is everything known of one device at one moment; it is never
// changed, only replaced, so that readers need no lock.
type snapshot struct {
	readings []Reading // the device itself first, then its sub-devices
	until    time.Time // from then on it is stale unless renewed
	stale    *snapshot // what to show from then on
}

// shown returns what may be shown now: a snapshot that nobody renewed is
// shown as offline, whatever kept the device's loop from saying so.
func (s *snapshot) shown() *snapshot {
	if s.stale != nil && time.Until(s.until) < 0 {
		return s.stale
	}
	return s
}

func (s *snapshot) find(sub string) (Reading, bool) {
	for i := range s.readings {
		if s.readings[i].SubDevice == sub {
			return s.readings[i], true
		}
	}
	return Reading{}, false
}

// Encoded returns the record as JSON, encoded when it was observed: alone, or
// inside {"response": ...}. The bytes must not be changed.
func (r Reading) Encoded() (plain, wrapped []byte) { return r.plain, r.wrapped }
