package api

import (
	"net/http"
	"slices"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
)

// spaceRecord is a meeting space of V2.0. A value that it does not have is null.
type spaceRecord struct {
	ID                      string         `json:"id"`
	Name                    string         `json:"name"`
	Type                    maybe          `json:"type"`
	Status                  booking.Status `json:"status"`
	Enabled                 bool           `json:"enabled"`
	Timezone                string         `json:"timezone"`
	Capacity                int            `json:"capacity"` // people
	Address                 addressRecord  `json:"address"`
	Location                maybe          `json:"location"`
	IndoorLocation          maybe          `json:"indoor_location"`
	Floor                   maybe          `json:"floor"`
	Room                    maybe          `json:"room"`
	AvailableUntil          maybe          `json:"available_until"` // null: it is not available now, or nothing ends it
	NextAvailableTime       maybe          `json:"next_available_time"`
	SlotMinutes             int            `json:"slot_minutes"`
	AllowCurrentTimeBooking bool           `json:"allow_current_time_booking"`
	AroundTheClock          bool           `json:"around_the_clock"`
	CustomerID              maybe          `json:"customer_id"`
	ExternalName            maybe          `json:"external_name"`
	ExternalCalendarID      maybe          `json:"external_calendar_id"`
	ThirdPartyRegistered    bool           `json:"third_party_registered"`
	BookingAppURL           maybe          `json:"booking_app_url"`
	LogoURL                 maybe          `json:"logo_url"`
	ScreenSaver             bool           `json:"screen_saver"`
	ScreenSaverURL          maybe          `json:"screen_saver_url"`
	CreatedBy               maybe          `json:"created_by"`
	CreatedAt               maybe          `json:"created_at"`
	UpdatedAt               maybe          `json:"updated_at"`
}

// addressRecord is where a meeting space is.
type addressRecord struct {
	Street         maybe `json:"street"`
	Zipcode        maybe `json:"zipcode"`
	City           maybe `json:"city"`
	State          maybe `json:"state"`
	Country        maybe `json:"country"`
	AdditionalInfo maybe `json:"additional_info"`
}

func newSpaceRecord(m site.MeetingSpace) spaceRecord {
	return spaceRecord{ID: m.ID, Name: m.Name, Type: maybe(m.Type), Status: m.Status, Enabled: m.Enabled, Timezone: m.Timezone,
		Capacity: m.Capacity, Address: addressRecord{maybe(m.Street), maybe(m.Zipcode), maybe(m.City), maybe(m.State),
			maybe(m.Country), maybe(m.AdditionalAddressInfo)}, Location: maybe(m.Location), IndoorLocation: maybe(m.IndoorLocation),
		Floor: maybe(m.Floor), Room: maybe(m.Room), AvailableUntil: maybe(m.AvailableUntil), NextAvailableTime: maybe(m.NextAvailableTime),
		SlotMinutes: m.SlotSize, AllowCurrentTimeBooking: m.AllowCurrentTimeBooking, AroundTheClock: m.AroundTheClock,
		CustomerID: maybe(m.CustomerID), ExternalName: maybe(m.ExternalName), ExternalCalendarID: maybe(m.ExternalCalendarID),
		ThirdPartyRegistered: m.ThirdPartyRegistered, BookingAppURL: maybe(m.BookingAppURL), LogoURL: maybe(m.Logo),
		ScreenSaver: m.IsScreenSaver, ScreenSaverURL: maybe(m.ScreenSaverURL), CreatedBy: maybe(m.CreatedBy),
		CreatedAt: maybe(m.CreatedAt), UpdatedAt: maybe(m.UpdatedAt)}
}

func spaceID(m site.MeetingSpace) string { return m.ID }

// getSpace answers with one meeting space.
func getSpace(s *Server, c *call) error {
	all := s.agent.Site.MeetingSpaces()
	at := slices.IndexFunc(all, func(m site.MeetingSpace) bool { return m.ID == c.params[0] })
	if at < 0 {
		_, err := s.agent.Site.OrganizationOf(nobody)
		return err
	}
	return c.json(http.StatusOK, newSpaceRecord(all[at]))
}

// getAvailability answers with when and how a space may be booked.
func getAvailability(s *Server, c *call) error {
	v, err := s.agent.Bookings.Availability(c.params[0])
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, newTypedAvailability(v))
}

// typedAvailability is when and how a space may be booked, of V2.0.
type typedAvailability struct {
	Enabled                 *bool         `json:"enabled"`
	SlotMinutes             *int          `json:"slot_minutes"`
	AllowCurrentTimeBooking *bool         `json:"allow_current_time_booking"`
	AroundTheClock          *bool         `json:"around_the_clock"`
	Hours                   *config.Hours `json:"hours"`
}

func newTypedAvailability(v schedule.Availability) typedAvailability {
	return typedAvailability{v.Enabled, v.SlotSize, v.AllowCurrentTimeBooking, v.AroundTheClock, v.Hours}
}

// timedHold is a state that was set, of V2.0.
type timedHold struct {
	ID     string         `json:"id"`
	Status booking.Status `json:"status"`
	Start  moment         `json:"start_time"`
	End    moment         `json:"end_time"` // null: until it is lifted
	Note   string         `json:"note,omitempty"`
}

func newTimedHold(h booking.Hold) timedHold {
	return timedHold{h.ID, h.Status, moment(h.From), moment(h.Until), h.Note}
}

// codePage is a page of the codes of a keypad.
type codePage struct {
	page[unlockCodeRecord]
	LockedOutS int64 `json:"locked_out_s"` // 0: the keypad takes codes
}

func codeID(r unlockCodeRecord) string { return r.ID }
