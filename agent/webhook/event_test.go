package webhook

import (
	"strings"
	"testing"

	"roomgate/agent/problem"
)

// A misspelt event is refused with the name that was probably meant.
func TestMisspeltEvents(t *testing.T) {
	for name, want := range map[string]string{
		"booking.canceled": `is "booking.canceled": did you mean "booking.cancelled"?`,
		"Booking.Created":  `did you mean "booking.created"?`,
		"booking_start":    `did you mean "booking.start"?`,
		"device.alrt":      `did you mean "device.alert"?`,
		"booking.made":     `is "booking.made": want one of booking.created, `,
		"*":                `is "*": want one of booking.created, `,
		"":                 `is "": want one of booking.created, `,
		EventTest:          `is "webhook.test": want one of booking.created, `,
	} {
		err := problem.As(checkEvents([]string{BookingEnd, name}))
		if err == nil || err.Code != problem.Invalid || err.Field != "events[1]" || !strings.Contains(err.Message, want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}
