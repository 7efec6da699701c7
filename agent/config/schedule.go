package config

import (
	"fmt"
	"net/url"
	"time"

	"roomgate/agent/booking"
)

// Booking is what a space allows of its bookings, beside the platform's fields.
type Booking struct {
	Minimum time.Duration `yaml:"minimum"` // the shortest booking
	Longest time.Duration `yaml:"longest"`
	WalkUp  time.Duration `yaml:"walk_up"` // the longest walk-up
	Horizon time.Duration `yaml:"horizon"` // how far ahead may be booked

	// CheckIn says that who booked has to show up: from Opens before the start.
	// At Warn after it the room reminds, at Release the time is given back
	// unless the room is occupied.
	CheckIn bool          `yaml:"check_in"`
	Opens   time.Duration `yaml:"check_in_opens"`
	Warn    time.Duration `yaml:"warn"`
	Release time.Duration `yaml:"release"`
	// Empty after a check-in for so long, the rest is given back; 0: never.
	Empty time.Duration `yaml:"empty"`

	// ShowTitles shows the titles and the names of meetings at the door.
	ShowTitles bool  `yaml:"show_titles"`
	Hours      Hours `yaml:"hours"`
}

// Hours are the opening hours of each day, like 08:00-18:30; empty: closed.
type Hours struct {
	Monday    string `yaml:"monday" json:"monday,omitempty"`
	Tuesday   string `yaml:"tuesday" json:"tuesday,omitempty"`
	Wednesday string `yaml:"wednesday" json:"wednesday,omitempty"`
	Thursday  string `yaml:"thursday" json:"thursday,omitempty"`
	Friday    string `yaml:"friday" json:"friday,omitempty"`
	Saturday  string `yaml:"saturday" json:"saturday,omitempty"`
	Sunday    string `yaml:"sunday" json:"sunday,omitempty"`
}

// Follow is what the devices of a space do by themselves as its schedule goes
// on.
type Follow struct {
	Ring  bool `yaml:"ring"`  // green, amber, red and off
	Light bool `yaml:"light"` // on at check-in, off when the room is empty
	Fan   bool `yaml:"fan"`   // the same
	Door  bool `yaml:"door"`  // unlocked for the meeting that is checked in, also one that was booked at the door
	Beep  bool `yaml:"beep"`  // softly before a release
	// OffAfter is how long the room is empty before light and fan go off.
	OffAfter time.Duration `yaml:"off_after"`
}

// Calendar is an external calendar that a space follows; an empty URL: none.
type Calendar struct {
	URL      string        `yaml:"url"`      // http or https, of an iCalendar feed
	Interval time.Duration `yaml:"interval"` // between two looks
	// Added says that the URL is not the configuration file's: the cloud has
	// laid it over that.
	Added bool `yaml:"-"`
}

// scheduleDefaults fills what has to do with bookings.
func (s *Space) scheduleDefaults() {
	r := booking.Default()
	s.Booking = Booking{Minimum: r.Minimum, Longest: r.Longest, WalkUp: r.WalkUp, Horizon: r.Horizon,
		CheckIn: r.CheckIn, Opens: r.Opens, Warn: r.Warn, Release: r.Release}
	s.Follow = Follow{Ring: true, OffAfter: 5 * time.Minute}
	s.Calendar = Calendar{Interval: 15 * time.Minute}
}

// Days are the hours by weekday, beginning with Sunday as package time does.
func (h Hours) Days() [7]string {
	return [7]string{h.Sunday, h.Monday, h.Tuesday, h.Wednesday, h.Thursday, h.Friday, h.Saturday}
}

// Week reads the hours; nil without any. The error names the day.
func (h Hours) Week() (booking.Week, error) {
	if h == (Hours{}) {
		return nil, nil
	}
	week := booking.Week{}
	for day, text := range h.Days() {
		if text == "" {
			continue
		}
		hours, err := booking.ParseHours(text)
		if err != nil {
			return nil, fmt.Errorf("hours of %s are %w", time.Weekday(day), err)
		}
		week[time.Weekday(day)] = hours
	}
	return week, nil
}

// Rules are those of the space as the file has them. The configuration was
// checked, so zone and hours can be read.
func (s Space) Rules() booking.Rules {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		zone = time.UTC
	}
	b := s.Booking
	r := booking.Rules{Zone: zone, Slot: time.Duration(s.SlotSize) * time.Minute, Minimum: b.Minimum, Longest: b.Longest,
		WalkUp: b.WalkUp, Horizon: b.Horizon, AllowCurrent: s.AllowCurrentTimeBooking,
		CheckIn: b.CheckIn, Opens: b.Opens, Warn: b.Warn, Release: b.Release, Empty: b.Empty}
	if !s.AroundTheClock {
		r.Hours, _ = b.Hours.Week()
	}
	return r
}

// schedule refuses what no schedule can be kept with.
func (r *reader) schedule(key string, s Space) {
	b := s.Booking
	at := key + ".booking"
	span(r, at+".minimum", b.Minimum, time.Minute, 4*time.Hour)
	span(r, at+".longest", b.Longest, b.Minimum, 31*24*time.Hour)
	span(r, at+".walk_up", b.WalkUp, b.Minimum, 24*time.Hour)
	span(r, at+".horizon", b.Horizon, 24*time.Hour, 3*366*24*time.Hour)
	span(r, at+".check_in_opens", b.Opens, 0, 12*time.Hour)
	span(r, at+".release", b.Release, time.Minute, 12*time.Hour)
	span(r, at+".warn", b.Warn, 0, b.Release)
	span(r, at+".empty", b.Empty, 0, 24*time.Hour)
	span(r, key+".follow.off_after", s.Follow.OffAfter, 0, 24*time.Hour)
	span(r, key+".calendar.interval", s.Calendar.Interval, time.Minute, 24*time.Hour)
	if _, err := b.Hours.Week(); err != nil {
		r.refuse(at+".hours", "are wrong: %v", err)
	}
	switch _, said := r.origins[key+".24_hr_available"]; {
	case s.AroundTheClock && said && b.Hours != (Hours{}):
		r.refuse(at+".hours", "are there and 24_hr_available is true: keep one")
	case !s.AroundTheClock && b.Hours == (Hours{}):
		r.refuse(key+".24_hr_available", "is false and there are no booking.hours: name them")
	}
	if s.Calendar.URL != "" && !feedURL(s.Calendar.URL) {
		r.refuse(key+".calendar.url", "is not the address of a calendar: want http:// or https://")
	}
}

func feedURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
