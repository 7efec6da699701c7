package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// platformRow is an operation as the platform's document has it, and where it
// is here. In paths and bodies a name in braces stands for a value of this
// building, or for what an earlier row has kept.
type platformRow struct {
	row          string // section and words of the document
	credential   string // "otp" is the token of who signed in; "": none
	method, path string
	body         string
	status       int
	has          string // members of the answer, "a.b" or "a.0.b"; "a:x,y" has x and y and no others
	keep         string // "name=a.b": for the rows that follow
}

// recordFields is section 2.2 of the document.
const recordFields = "id,name,street,city,state,zipcode,country,location,indoor_location,floor,room,status,additional_address_info,type," +
	"capacity,created_at,updated_at,customer_id,created_by,external_cal_id,timezone,logo,booking_app_url,enabled,third_party_registered," +
	"external_name,slot_size,allow_current_time_booking,24_hr_available,next_available_time,available_until,screen_saver_url,is_screen_saver"

const one = "response:device,value,status" // section 2.3

// platform is every operation of the platform's document, in its order as far
// as what one needs comes before it.
func platform() []platformRow {
	const key, org, user = "X-API-Key", "X-Org-Api-Key", "otp"
	status := func(device string) string { return `{"device_type":"` + device + `"}` }
	sub := func(name string) string { return `{"device_type":"o3-sensor","sub_device":"` + name + `"}` }
	const room, desk = "/devices/{aurora}", "/devices/{borealis}"
	return []platformRow{
		{"4.1 request a one-time password", "", "POST", "/api/v1/auth/otp/request", `{"email":"ann@example.com"}`, 200, "", ""},
		{"4.1 verify a one-time password", "", "POST", "/api/v1/auth/otp/verify", `{"email":"ann@example.com","otp":"{otp}"}`, 200,
			"data.access_token data.user:id,email,name", "token=data.access_token"},
		{"4.1 register a webhook", user, "POST", "/api/v1/webhooks", `{"organization_id":"{org}","url":"https://hooks.example/in","events":["booking.created","booking.start","booking.end","booking.cancelled"],"secret":"a-secret-that-both-know"}`,
			201, "data.id data.url data.events.3", "webhook=data.id"},
		{"4.1 list webhooks", user, "GET", "/api/v1/webhooks?organization_id={org}", "", 200, "data.0.id", ""},
		{"4.1 deliveries of a webhook", user, "GET", "/api/v1/webhooks/{webhook}/deliveries", "", 200, "data", ""},

		{"4.2 status of all", key, "POST", room + "/status", status("all"), 200, "response.devices.6 response.devices.0:device,value,status", ""},
		{"4.2 status of a lock", key, "POST", room + "/status", status("lock"), 200, one, ""},
		{"4.2 status of a light", key, "POST", room + "/status", status("light"), 200, one, ""},
		{"4.2 status of an o3-sensor", key, "POST", room + "/status", status("o3-sensor"), 200, one, ""},
		{"4.2 status of a fan", key, "POST", desk + "/status", status("fan"), 200, one, ""},
		{"4.2 status of a meeting-room-display", key, "POST", desk + "/status", status("meeting-room-display"), 200, one, ""},
		{"4.2 status of temprature", key, "POST", room + "/status", sub("temprature"), 200, one, ""},
		{"4.2 status of a buzzer", key, "POST", room + "/status", sub("buzzer"), 200, one, ""},
		{"4.2 status of occupancy", key, "POST", room + "/status", sub("occupancy"), 200, one, ""},
		{"4.2 status of a ring-light", key, "POST", room + "/status", sub("ring-light"), 200, one, ""},
		{"4.2 record not found", key, "POST", "/devices/{nowhere}/status", status("lock"), 404, "code", ""},
		{"4.3 device events", key, "GET", "/devices/events", "", 200, "events.0:eventType,timestamp,details", ""},
		{"4.4 meeting spaces", key, "GET", "/meetingspace/get_meeting_space", "", 200, "1:" + recordFields, ""},

		{"4.5 schedule meeting space state", key, "POST", "/meetingspace/{aurora}/state", `{"status":"disabled","from":"2000-01-05T10:00:00Z","until":"2000-01-05T11:00:00Z"}`, 201, "response.status", ""},
		{"4.5 get meeting spaces by customer", org, "GET", "/meetingspace/get_meeting_space", "", 200, "0:" + recordFields, ""},
		{"4.5 get meeting space state by id", key, "GET", "/meetingspace/{aurora}/state", "", 200, "response.status", ""},
		{"4.5 get meeting space state by device id", key, "GET", "/meetingspace/state/device/aurora-lock", "", 200, "response.meeting_space_id", ""},
		{"4.5 disable meeting space state", key, "GET", "/meetingspace/{borealis}/state/disable", "", 200, "response.hold.status", ""},
		{"4.5 send meeting space state by meeting space id", key, "GET", "/meetingspace/{aurora}/state/send", "", 200, "response.status", ""},
		{"4.5 store meeting space availability", key, "POST", "/meetingspace/{aurora}/availability", `{"slot_size":30,"24_hr_available":true}`, 200, "response.slot_size", ""},
		{"4.5 create external calendar", key, "POST", "/meetingspace/{aurora}/calendar", `{"url":"https://calendar.example/a.ics"}`, 200, "response.url", ""},

		{"4.5 register a meeting space id and retrieve network details", "", "POST", "/edge/register", `{"claim_code":"{claim}"}`, 201, "response.device_id response.meeting_space.id response.http.port response.broker", ""},
		{"4.5 heartbeat", key, "POST", "/edge/heartbeat", `{"meeting_space_id":"{borealis}"}`, 200, "orders", ""},
		{"4.5 retrieve all active sensors and device permissions", key, "GET", "/edge/sensors?meeting_space_id={aurora}", "", 200, "response.sensors.0.actions", ""},
		{"4.5 control a device: on or off", key, "POST", "/edge/control", `{"meeting_space_id":"{aurora}","device_type":"light","on":true}`, 200, "state evidence.value", ""},
		{"4.5 control a device: intensity", key, "POST", "/edge/control", `{"meeting_space_id":"{aurora}","device_type":"light","intensity":40}`, 200, "state evidence.value", ""},
		{"4.5 enable or disable a device", key, "POST", "/edge/enable", `{"device_id":"aurora-light","enabled":true}`, 200, "response.enabled", ""},

		{"4.5 create device", key, "POST", "/devices", `{"meeting_space_id":"{borealis}","id":"borealis-o3","device_type":"o3-sensor","driver":"o3-room","options":{"occupancy":{"dialect":"zigbee2mqtt","topic":"z/motion"}}}`, 201, "response.id", ""},
		{"4.5 create device: a camera", key, "POST", "/devices", `{"meeting_space_id":"{borealis}","id":"borealis-camera","device_type":"camera","driver":"camera-http","options":{"url":"http://camera.example/snapshot.jpg"}}`, 201, "response.id", ""},
		{"4.2 status of a camera", key, "POST", desk + "/status", status("camera"), 200, one, ""},
		{"4.5 create device sensors", key, "POST", "/devices/borealis-o3/sensors", `{"sub_device":"temprature","options":{"dialect":"zigbee2mqtt","topic":"z/heat"}}`, 201, "response", ""},
		{"4.5 create admin unlock code", key, "PUT", "/meetingspace/{aurora}/unlock-codes", `{"name":"Cleaning","code":"483920"}`, 201, "response.id", "code=response.id"},
		{"4.5 update admin unlock code", key, "PUT", "/meetingspace/{aurora}/unlock-codes", `{"id":"{code}","name":"Cleaning","code":"592817"}`, 200, "response.id", ""},
		{"4.5 upload meeting space screenshot", key, "POST", "/meetingspace/{borealis}/screenshot", "{picture}", 200, "orders", ""},
		{"4.5 create authorization token", org, "POST", "/api/v1/auth/token", "", 200, "data.access_token", ""},
		{"4.5 send message to a mobile device", key, "POST", "/messages", `{"to":{"user_id":"mel"},"title":"Aurora","body":"The projector is dark."}`, 202, "id channels.cloud.state channels.push.state", ""},

		{"4.5 create booking", key, "POST", "/bookings", `{"meeting_space_id":"{aurora}","title":"Review","start_time":"2000-01-04T09:00:00Z","end_time":"2000-01-04T10:00:00Z"}`, 201, "id state", "booking=id"},
		{"4.5 update booking", key, "POST", "/bookings", `{"id":"{booking}","title":"Retrospective"}`, 200, "revision", ""},
		{"4.5 send meeting space state by booking id", key, "GET", "/bookings/{booking}/state/send", "", 200, "response.meeting_space_id", ""},
		{"4.5 bulk booking operation", key, "POST", "/bookings/bulk", `{"operations":[{"operation":"cancel","id":"{booking}"}]}`, 200, "results.0.status", ""},
		{"4.5 create a booking by its operation", key, "POST", "/bookings", `{"meeting_space_id":"{aurora}","start_time":"2000-01-01T00:00:00Z","minutes":30}`, 201, "id", "now=id"},
		{"4.5 check-in operation", key, "POST", "/bookings/{now}/check-in", "", 200, "checked_in_at", ""},
		{"4.5 cancel a booking", key, "DELETE", "/bookings/{now}", "", 200, "state", ""},
		{"4.5 create a new event with conditions and actions", key, "POST", "/rules", `{"name":"hot","trigger":{"event":"temperatureAlert"},"condition":"temperature.number > 25","actions":[{"meeting_space_id":"{borealis}","device_type":"fan","action":"on"}]}`, 201, "id", ""},

		{"4.5 subscribe to device events", key, "GET", room + "/events", "", 200, "events.0.eventType", ""},
		{"4.5 action on IoT device", key, "POST", room + "/action", `{"device_type":"lock","action":"open"}`, 200, "state evidence.value", ""},
		{"4.5 get device instruction", key, "GET", room + "/instruction?device_type=light", "", 200, "response.actions.0.name", ""},
		{"4.5 get device control", key, "POST", room + "/control", status("light"), 200, "response.actions.0.allowed response.last_command", ""},
		{"4.5 fetch associated device types", key, "GET", "/devices/types", "", 200, "response.device_types.0.device_type", ""},

		{"5 a system key has full access", key, "GET", "/bookings", "", 200, "bookings", ""},
		{"5 a key of an organization, within its permissions", org, "GET", "/devices/events", "", 200, "events", ""},
		{"5 a key of an organization, beyond them", org, "GET", "/rules", "", 403, "code", ""},
		{"5 a user by his token", user, "GET", "/bookings", "", 200, "bookings", ""},
		{"5 without a credential", "", "GET", "/bookings", "", 401, "code", ""},
		{"2.7 create an API key of an organization", user, "POST", "/api/v1/organizations/{org}/api-keys", `{"name":"app","permissions":["bookings:read","bookings:write"]}`, 201, "data.secret data.permissions.1", "key=data.id"},
		{"2.7 revoke an API key of an organization", user, "DELETE", "/api/v1/organizations/{org}/api-keys/{key}", "", 204, "", ""},
	}
}

// TestEveryRowOfThePlatform sends every row to both of its base addresses; with
// -v it prints the table.
func TestEveryRowOfThePlatform(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, base := range []string{"", versionPrefix} {
			code := b.tryPlatform(t, base)["code"]
			b.clear()
			if err := b.agent.Unlock.Delete(t.Context(), aurora, code, "test"); err != nil {
				t.Fatal(err)
			}
		}
	}, tenants)
}

// tryPlatform sends every row below a base, and returns what was kept.
func (b *building) tryPlatform(t *testing.T, base string) map[string]string {
	known := map[string]string{"aurora": aurora, "borealis": borealis, "nowhere": nowhere, "org": auroraOrg, "claim": b.claim(borealis),
		"picture": picture(t, 8, 8)}
	_, key := b.orgKey(t, auroraOrg, "devices:read", "events:read", "spaces:read")
	for _, p := range platform() {
		t.Logf("| %s | `%s %s` |", p.row, p.method, base+p.path)
		parts := []string{}
		switch p.credential {
		case "X-API-Key":
			parts = append(parts, "X-API-Key: "+systemKey)
		case headerOrgKey:
			parts = append(parts, key)
		case "otp":
			parts = append(parts, "Authorization: Bearer "+known["token"])
		}
		if p.body == "{picture}" {
			parts = append(parts, "Content-Type: image/png")
		}
		if body := filled(p.body, known); body != "" {
			parts = append(parts, body)
		}
		letters := len(b.relay.Letters())
		p.check(t, b.net.do(t, p.method, base+filled(p.path, known), parts...), known)
		if strings.HasSuffix(p.path, "otp/request") {
			got, err := b.relay.Wait(t.Context(), letters+1)
			if err != nil {
				t.Fatal(err)
			}
			known["otp"] = sixDigits.FindStringSubmatch(got[letters].Text)[1]
		}
	}
	return known
}

// filled puts values where their names stand in braces.
func filled(text string, known map[string]string) string {
	for name, value := range known {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func (p platformRow) check(t *testing.T, got answer, known map[string]string) {
	t.Helper()
	var v any
	if got.StatusCode != http.StatusNoContent {
		_ = json.Unmarshal([]byte(got.body), &v) // what is not JSON lacks everything
	}
	if got.StatusCode != p.status {
		t.Errorf("%s: %s %s: %d, want %d: %s", p.row, p.method, p.path, got.StatusCode, p.status, got.body)
	}
	for _, want := range strings.Fields(p.has) {
		path, members, exact := strings.Cut(want, ":")
		at := reach(v, path)
		if at == nil {
			t.Errorf("%s: %s %s lacks %s: %s", p.row, p.method, p.path, path, got.body)
		}
		object, _ := at.(map[string]any)
		if have := slices.Sorted(maps.Keys(object)); exact && !slices.Equal(have, slices.Sorted(slices.Values(strings.Split(members, ",")))) {
			t.Errorf("%s: %s %s: %s has %q, want %s", p.row, p.method, p.path, path, have, members)
		}
	}
	if name, path, ok := strings.Cut(p.keep, "="); ok {
		known[name], _ = reach(v, path).(string)
	}
}

// reach walks into decoded JSON; nil if there is nothing.
func reach(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			inner, there := in[step]
			if v = inner; there && v == nil {
				v = struct{}{} // null is something
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}
