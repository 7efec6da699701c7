package api

import (
	"strings"
	"testing"
)

// TestEdgeDeviceWorksWithItsKey goes the way of a board that has nothing but a
// pairing code.
func TestEdgeDeviceWorksWithItsKey(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		id, secret := b.registered(aurora, `,"serial":"A1"`)
		other := b.register(aurora, "")
		key := "X-API-Key: " + secret
		wants := func(status int, method, path, body, part string) {
			t.Helper()
			if got := b.net.do(t, method, path, key, body); got.StatusCode != status || !strings.Contains(got.body, part) {
				t.Errorf("%s %s %s: %d %s, want %d with %s", method, path, body, got.StatusCode, got.body, status, part)
			}
		}
		inAurora, inBorealis := `{"meeting_space_id":"`+aurora+`"`, `{"meeting_space_id":"`+borealis+`"`
		wants(200, "POST", "/edge/heartbeat", "{}", "orders")
		wants(200, "POST", "/edge/heartbeat", `{"device_id":"`+id+`"}`, "orders")
		wants(422, "POST", "/edge/heartbeat", `{"device_id":"`+other+`"}`, "device_id")
		wants(409, "POST", "/edge/heartbeat", inBorealis+"}", "meeting_space_id")
		wants(200, "GET", "/edge/sensors?meeting_space_id="+aurora, "", "an edge device only switches and dims")
		wants(404, "GET", "/edge/sensors?meeting_space_id="+borealis, "", "not_found")
		wants(200, "POST", "/edge/control", inAurora+`,"device_type":"light","on":true}`, "done")
		wants(404, "POST", "/edge/control", inBorealis+`,"device_type":"light","on":true}`, "not_found")
		wants(200, "POST", "/devices/"+aurora+"/status", `{"device_type":"all"}`, `"device":"lock"`)
		wants(404, "POST", "/devices/"+borealis+"/status", `{"device_type":"all"}`, "not_found")
		wants(200, "GET", "/v2.0/devices", "", aurora)
		if got := b.net.do(t, "GET", "/v2.0/devices", key); strings.Contains(got.body, borealis) {
			t.Errorf("it sees another space: %s", got.body)
		}
		wants(403, "POST", "/devices/"+aurora+"/action", `{"device_type":"lock","action":"open"}`, "not for edge devices")
		wants(403, "GET", "/bookings", "", "not for edge devices")
		wants(403, "POST", "/api/v1/auth/token", "{}", "forbidden")

		_, again := b.registered(aurora, `,"serial":"A1"`)
		wants(401, "POST", "/edge/heartbeat", "{}", "X-API-Key") // the former key has ended
		key = "X-API-Key: " + again
		wants(200, "POST", "/edge/heartbeat", "{}", "orders")
		for _, d := range b.agent.Edges.List() {
			if got := b.ask("DELETE", "/gateway/edge/"+d.ID); got.StatusCode != 204 || strings.Contains(b.ask("GET", "/gateway/edge").body, "key") {
				t.Errorf("deleted: %d", got.StatusCode)
			}
		}
		wants(401, "POST", "/edge/heartbeat", "{}", "X-API-Key")
	})
}
