package rule

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"roomgate/agent/printable"
)

const (
	longestName    = 100
	maxActions     = 10
	longestMessage = 200  // characters of a text to a display
	longestValue   = 1000 // bytes of a command's value
	// UsualPerMinute is how often a rule runs at most unless it says so.
	UsualPerMinute = 10
	mostPerMinute  = 60
	longestPause   = 24 * time.Hour
)

// Rule is one rule of the building. One without a meeting space holds in each
// of them.
type Rule struct {
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	SpaceID   string      `json:"meeting_space_id,omitempty"`
	Enabled   bool        `json:"enabled"`
	Trigger   Trigger     `json:"trigger"`
	Condition string      `json:"condition,omitempty"` // see [Compile]; empty: always
	Actions   []Action    `json:"actions"`
	Limits    Limits      `json:"limits"`
	AllowDoor bool        `json:"allow_door"`          // it may open doors
	Suspended *Suspension `json:"suspended,omitempty"` // until it is enabled again
	CreatedAt time.Time   `json:"created_at"`
	UpdatedAt time.Time   `json:"updated_at"`

	// OrganizationID is whose it is: it gives commands in the spaces of that organization alone. Empty: the
	// building's, or the cloud's.
	OrganizationID string `json:"-"`
}

// Suspension is why the building stopped a rule by itself.
type Suspension struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Active says whether the rule is asked at all.
func (r Rule) Active() bool { return r.Enabled && r.Suspended == nil }

// Trigger is when a rule is asked: exactly one of Event, Time and Booking.
type Trigger struct {
	// Event is the type of an event of the log, as "occupancyChanged",
	// "booking.created", or one that a rule raises, as "rule.tooWarm".
	Event string `json:"event,omitempty"`
	// DeviceType and SubDevice narrow an Event.
	DeviceType string `json:"device_type,omitempty"`
	SubDevice  string `json:"sub_device,omitempty"`
	// Time is a time of day in the zone of the space, "07:30", or five fields
	// of crontab(5).
	Time string `json:"time,omitempty"`
	// Booking is an event of a booking. With Before or After, which
	// "booking.start" and "booking.end" take, it is a moment that far from it.
	Booking string   `json:"booking,omitempty"`
	Before  Duration `json:"before,omitzero"`
	After   Duration `json:"after,omitzero"`
}

// Action is what a rule does: exactly one of a command to a device, a message
// to a display or a person, and an event of its own.
type Action struct {
	// SpaceID is where; empty: the space of the rule or of the trigger.
	SpaceID    string          `json:"meeting_space_id,omitempty"`
	DeviceType string          `json:"device_type,omitempty"`
	SubDevice  string          `json:"sub_device,omitempty"`
	Action     string          `json:"action,omitempty"`
	Value      json.RawMessage `json:"value,omitempty"`
	Message    string          `json:"message,omitempty"` // to the room's display, or to the recipient in To
	To         To              `json:"to,omitzero"`
	Title      string          `json:"title,omitempty"`    // of a message to somebody; empty: the rule's name
	Priority   string          `json:"priority,omitempty"` // the same: low, normal, high or urgent; empty: normal
	Event      string          `json:"event,omitempty"`    // raised as "rule." and this
}

// To is the recipient of a message, on a mobile device: exactly one field is set.
type To struct {
	Email     string `json:"email,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	Topic     string `json:"topic,omitempty"`     // of the device at the push gateway
	Organizer bool   `json:"organizer,omitempty"` // of the booking that the trigger is about
}

// Nobody says that it names nobody: the message is for a display.
func (t To) Nobody() bool { return t == To{} }

// String is who is meant. It tells no topic: whoever knows one reads all that goes there.
func (t To) String() string {
	switch {
	case t.Organizer:
		return "the organizer"
	case t.Topic != "":
		return "a phone"
	}
	return t.Email + t.UserID
}

// Limits bound how often a rule runs in one space.
type Limits struct {
	PerMinute int      `json:"max_per_minute"`    // 1 to 60
	Cooldown  Duration `json:"cooldown,omitzero"` // between two runs
}

// Duration is a length of time, written as "10m" or "1h30m".
type Duration time.Duration

// String is as Go writes it, without zeros at the end.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText writes it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// OwnEvent is what the events that rules raise begin with.
const OwnEvent = "rule."

var ownEvent = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)

// isOwnEvent says whether rules may raise an event of that name.
func isOwnEvent(name string) bool { return len(name) <= 40 && ownEvent.MatchString(name) }

// The moments of a booking that a trigger may be before or after.
const (
	BookingStart = "booking.start"
	BookingEnd   = "booking.end"
)

// Check tidies a rule and refuses what it cannot mean, given the events that
// there are. The caller knows whether its spaces and devices exist.
func (r *Rule) Check(events []string) error {
	r.Name = strings.TrimSpace(r.Name)
	if n := utf8.RuneCountInString(r.Name); n == 0 || n > longestName || !printable.Line(r.Name) {
		return wrong("name", "must have 1 to %d characters on one line, without control characters", longestName)
	}
	if err := r.Trigger.check(events); err != nil {
		return err
	}
	if _, err := Compile(r.Condition); err != nil {
		return err
	}
	if len(r.Actions) == 0 || len(r.Actions) > maxActions {
		return wrong("actions", "has %d: want 1 to %d", len(r.Actions), maxActions)
	}
	for i := range r.Actions {
		if err := r.Actions[i].check(fieldOf(i)); err != nil {
			return err
		}
		if r.Actions[i].To.Organizer && r.Trigger.Booking == "" && !strings.HasPrefix(r.Trigger.Event, "booking.") {
			return wrong(fieldOf(i)+".to.organizer", "has no meaning: the trigger is about no booking")
		}
	}
	return r.Limits.check()
}

// fieldOf names an action.
func fieldOf(i int) string { return "actions[" + string(rune('0'+i)) + "]" }

func (l *Limits) check() error {
	if l.PerMinute == 0 {
		l.PerMinute = UsualPerMinute
	}
	switch {
	case l.PerMinute < 1 || l.PerMinute > mostPerMinute:
		return wrong("limits.max_per_minute", "is out of range: want 1 to %d", mostPerMinute)
	case l.Cooldown < 0 || time.Duration(l.Cooldown) > longestPause:
		return wrong("limits.cooldown", "is out of range: want up to 24h")
	}
	return nil
}

func (t *Trigger) check(events []string) error {
	given := 0
	for _, s := range []string{t.Event, t.Time, t.Booking} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return wrong("trigger", "has %d of event, time and booking: want exactly one", given)
	}
	switch {
	case t.Event == "" && (t.DeviceType != "" || t.SubDevice != ""):
		return wrong("trigger.device_type", "has no meaning without event")
	case t.Booking == "" && (t.Before != 0 || t.After != 0):
		return wrong("trigger.before", "has no meaning without booking")
	case t.Event != "":
		return knownEvent("trigger.event", t.Event, events)
	case t.Time != "":
		_, err := ParseTime(t.Time)
		return err
	}
	return t.checkBooking(events)
}

// knownEvent refuses an event that nobody raises. An event of a rule may be
// raised by a rule that is made later.
func knownEvent(field, name string, events []string) error {
	if own, ok := strings.CutPrefix(name, OwnEvent); ok && isOwnEvent(own) || slices.Contains(events, name) {
		return nil
	}
	return wrong(field, "%q is not known%s", clip(name), hint(clip(name), events))
}

func (t *Trigger) checkBooking(events []string) error {
	var of []string
	for _, e := range events {
		if strings.HasPrefix(e, "booking.") {
			of = append(of, e)
		}
	}
	offset := t.Before != 0 || t.After != 0
	switch {
	case !slices.Contains(of, t.Booking):
		return wrong("trigger.booking", "%q is not known%s", clip(t.Booking), hint(clip(t.Booking), of))
	case offset && t.Booking != BookingStart && t.Booking != BookingEnd:
		return wrong("trigger.booking", "takes no before or after: only %s and %s do", BookingStart, BookingEnd)
	case t.Before != 0 && t.After != 0:
		return wrong("trigger.before", "has no meaning with after: send one of them")
	case t.Before < 0 || time.Duration(t.Before) > longestPause:
		return wrong("trigger.before", "is out of range: want up to 24h")
	case t.After < 0 || time.Duration(t.After) > longestPause:
		return wrong("trigger.after", "is out of range: want up to 24h")
	}
	return nil
}

func (a *Action) check(field string) error {
	given := 0
	for _, s := range []string{a.DeviceType, a.Message, a.Event} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return wrong(field, "has %d of device_type, message and event: want exactly one", given)
	case a.DeviceType == "" && (a.SubDevice != "" || a.Action != "" || len(a.Value) > 0):
		return wrong(field, "has sub_device, action or value without device_type")
	case a.DeviceType != "" && a.Action == "":
		return wrong(field+".action", "is missing")
	case len(a.Value) > longestValue:
		return wrong(field+".value", "is longer than %d bytes", longestValue)
	case a.Message != "" && (utf8.RuneCountInString(a.Message) > longestMessage || !utf8.ValidString(a.Message)):
		return wrong(field+".message", "must have 1 to %d characters", longestMessage)
	case !a.To.Nobody() && a.Message == "":
		return wrong(field+".message", "is missing: say what the message says")
	case a.To.Nobody() && a.Title != "":
		return wrong(field+".title", "has no meaning without to")
	case a.To.Nobody() && a.Priority != "":
		return wrong(field+".priority", "has no meaning without to")
	case a.Event != "" && !isOwnEvent(a.Event):
		return wrong(field+".event", "is not a name for an event: want letters and digits, as tooWarm; it is raised as rule.tooWarm")
	}
	return nil
}
