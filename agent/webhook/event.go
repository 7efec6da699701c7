package webhook

import (
	"slices"
	"strings"

	"roomgate/agent/spelling"
)

// The names of the events that a webhook can get.
const (
	BookingCreated   = "booking.created"
	BookingStart     = "booking.start"
	BookingEnd       = "booking.end"
	BookingCancelled = "booking.cancelled"
	BookingUpdated   = "booking.updated"
	BookingCheckedIn = "booking.checked_in"
	BookingReleased  = "booking.released"
	BookingDisplaced = "booking.displaced"
	DeviceAlert      = "device.alert"
)

// names are those by which webhooks may hear of an event.
func names(event string) []string {
	if event == BookingReleased || event == BookingDisplaced {
		return []string{event, BookingCancelled, BookingEnd}
	}
	return []string{event}
}

// EventTest names the notification that somebody asked for to see one arrive.
// Nobody subscribes to it.
const EventTest = "webhook.test"

// Events returns the names in the order in which they are documented.
func Events() []string {
	return []string{BookingCreated, BookingStart, BookingEnd, BookingCancelled, BookingUpdated,
		BookingCheckedIn, BookingReleased, BookingDisplaced, DeviceAlert}
}

// checkEvents refuses a list that is empty or names what there is not.
func checkEvents(names []string) error {
	known := Events()
	if len(names) == 0 {
		return invalid("events", "is empty: name at least one of %s", strings.Join(known, ", "))
	}
	if len(names) > len(known) {
		return invalid("events", "has %d names: there are only %d events", len(names), len(known))
	}
	for i, name := range names {
		switch {
		case !slices.Contains(known, name):
			if near := spelling.Nearest(name, known); near != "" {
				return invalid(item("events", i), "is %s: did you mean %q?", quoted(name), near)
			}
			return invalid(item("events", i), "is %s: want one of %s", quoted(name), strings.Join(known, ", "))
		case slices.Contains(names[:i], name):
			return invalid(item("events", i), "is %s a second time: name it once", quoted(name))
		}
	}
	return nil
}
