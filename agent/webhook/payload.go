package webhook

import (
	"encoding/json"
	"time"
)

// timeLayout is how the platform writes times.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Payload is the body of a notification, exactly the platform's fields.
type Payload struct {
	Event     string          `json:"event"`
	Timestamp string          `json:"timestamp"` // when it happened, UTC with milliseconds
	WebhookID string          `json:"webhook_id"`
	Data      json.RawMessage `json:"data"` // a BookingData or an AlertData
}

// BookingData is the data of an event of a booking.
type BookingData struct {
	BookingID      string    `json:"booking_id"`
	SpaceID        string    `json:"meeting_space_id"`
	OrganizationID string    `json:"organization_id"`
	StartTime      string    `json:"start_time"`
	EndTime        string    `json:"end_time"`
	Organizer      Organizer `json:"organizer"` // both empty if the booking is private
}

// Organizer is who organizes a meeting.
type Organizer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// AlertData is the data of an alert that a device raised.
type AlertData struct {
	Alert          string         `json:"alert"` // the event's type, as temperatureAlert
	SpaceID        string         `json:"meeting_space_id"`
	OrganizationID string         `json:"organization_id"`
	Device         string         `json:"device"`
	DeviceID       string         `json:"device_id"`
	Details        map[string]any `json:"details"` // as the event has them
}

// Encode makes the body for one webhook.
func Encode(event string, at time.Time, webhookID string, data any) (json.RawMessage, error) {
	inner, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Payload{event, at.UTC().Format(timeLayout), webhookID, inner})
}

// testLength is how long the meeting of a test notification takes.
const testLength = 30 * time.Minute

// TestPayload is a notification with made-up values in every field.
func TestPayload(w Webhook, at time.Time) (json.RawMessage, error) {
	return Encode(EventTest, at, w.ID, BookingData{
		BookingID: "test", SpaceID: "test", OrganizationID: w.OrganizationID,
		StartTime: at.UTC().Format(timeLayout), EndTime: at.Add(testLength).UTC().Format(timeLayout),
		Organizer: Organizer{Name: "Test", Email: "test@example.com"},
	})
}
