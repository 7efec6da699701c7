package site

import (
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
)

// MeetingSpace is the platform's record of a meeting space, exactly its fields.
type MeetingSpace struct {
	ID                      string         `json:"id"`
	Name                    string         `json:"name"`
	Street                  string         `json:"street"`
	City                    string         `json:"city"`
	State                   string         `json:"state"`
	Zipcode                 string         `json:"zipcode"`
	Country                 string         `json:"country"`
	Location                string         `json:"location"`
	IndoorLocation          string         `json:"indoor_location"`
	Floor                   string         `json:"floor"`
	Room                    string         `json:"room"`
	Status                  booking.Status `json:"status"`
	AdditionalAddressInfo   string         `json:"additional_address_info"`
	Type                    string         `json:"type"`
	Capacity                int            `json:"capacity"`
	CreatedAt               string         `json:"created_at"`
	UpdatedAt               string         `json:"updated_at"`
	CustomerID              string         `json:"customer_id"`
	CreatedBy               string         `json:"created_by"`
	ExternalCalendarID      string         `json:"external_cal_id"`
	Timezone                string         `json:"timezone"`
	Logo                    string         `json:"logo"`
	BookingAppURL           string         `json:"booking_app_url"`
	Enabled                 bool           `json:"enabled"`
	ThirdPartyRegistered    bool           `json:"third_party_registered"`
	ExternalName            string         `json:"external_name"`
	SlotSize                int            `json:"slot_size"`
	AllowCurrentTimeBooking bool           `json:"allow_current_time_booking"`
	AroundTheClock          bool           `json:"24_hr_available"`
	NextAvailableTime       string         `json:"next_available_time"` // empty: not within the horizon
	AvailableUntil          string         `json:"available_until"`     // empty: not available, or nothing ends it
	ScreenSaverURL          string         `json:"screen_saver_url"`
	IsScreenSaver           bool           `json:"is_screen_saver"`
}

// MeetingSpaces returns the record of every space, in the configuration's
// order.
func (s *Site) MeetingSpaces() []MeetingSpace {
	now := s.o.Clock.Now()
	spaces := s.Spaces()
	out := make([]MeetingSpace, len(spaces))
	for i, space := range spaces {
		out[i] = space.record(now)
	}
	return out
}

func (s *Space) record(now time.Time) MeetingSpace {
	c := s.Room.Config()
	created, updated := s.Room.Noted()
	g := s.Room.At(now)
	m := MeetingSpace{ID: c.ID, Name: c.Name, Street: c.Street, City: c.City, State: c.State, Zipcode: c.Zipcode,
		Country: c.Country, Location: c.Location, IndoorLocation: c.IndoorLocation, Floor: c.Floor, Room: c.Room,
		Status: g.Status, AdditionalAddressInfo: c.AdditionalAddressInfo, Type: c.Type, Capacity: c.Capacity,
		CreatedAt: eventlog.Stamp(created), UpdatedAt: eventlog.Stamp(updated), CustomerID: c.CustomerID, CreatedBy: c.CreatedBy,
		ExternalCalendarID: s.Room.ExternalCalendar(), Timezone: c.Timezone, Logo: c.Logo, BookingAppURL: c.BookingAppURL,
		Enabled: c.Enabled, ThirdPartyRegistered: c.ThirdPartyRegistered, ExternalName: c.ExternalName, SlotSize: c.SlotSize,
		AllowCurrentTimeBooking: c.AllowCurrentTimeBooking, AroundTheClock: c.AroundTheClock,
		ScreenSaverURL: c.ScreenSaverURL, IsScreenSaver: c.IsScreenSaver}
	if !g.NextAvailable.IsZero() {
		m.NextAvailableTime = eventlog.Stamp(g.NextAvailable)
	}
	if !g.AvailableUntil.IsZero() {
		m.AvailableUntil = eventlog.Stamp(g.AvailableUntil)
	}
	return m
}
