package device

import "roomgate/drivers"

// Info is a device as the building was configured, with what was set of it
// since.
type Info struct {
	ID          string              `json:"id"`
	Type        string              `json:"type"`
	Driver      string              `json:"driver"`
	SpaceID     string              `json:"meeting_space_id"`
	SpaceName   string              `json:"meeting_space"`
	Enabled     bool                `json:"enabled"`
	Poll        string              `json:"poll"` // from one observation to the next, as "5s"
	Alert       AlertRange          `json:"alert"`
	Permissions []Permission        `json:"permissions,omitempty"`
	Description drivers.Description `json:"description"`
}

// AlertRange is the range of temperatures in °C outside of which an alert is
// raised, until the value is back inside by the hysteresis.
type AlertRange struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Hysteresis float64 `json:"hysteresis"`
}

// Info is the device with the name of the meeting space that it is in.
func (d *Device) Info(spaceName string) Info {
	t := d.Live()
	return Info{d.ID, d.Type, d.Driver, d.SpaceID, spaceName, t.Enabled, t.Poll.String(),
		AlertRange(t.Alert), t.Permissions(), d.Describe()}
}
