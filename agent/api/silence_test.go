package api

import (
	"encoding/json"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
)

// TestOneFactFallsSilent: what a sensor no longer says is offline in V1.0, and in
// V2.0 null with its age, while all else goes on; until it is said again.
func TestOneFactFallsSilent(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		type reading struct {
			Device string `json:"sub_device"`
			Value  any
			Status string
			Stale  bool
			AgeS   float64 `json:"age_s"`
			Reason string
		}
		look := func() (v1 map[string]string, v2 map[string]reading) {
			t.Helper()
			v1, v2 = map[string]string{}, map[string]reading{}
			for _, sub := range drivers.SubDevices(drivers.TypeO3) {
				var answer struct{ Response device.Record }
				got := b.ask("POST", "/devices/"+aurora+"/status", `{"device_type":"o3-sensor","sub_device":"`+sub+`"}`)
				if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
					t.Fatalf("%s: %v", got.body, err)
				}
				v1[sub] = answer.Response.Status
			}
			var hub struct {
				SubDevices []reading `json:"sub_devices"`
			}
			got := b.ask("GET", "/v2.0/devices/aurora-o3")
			if err := json.Unmarshal([]byte(got.body), &hub); err != nil {
				t.Fatalf("%s: %v", got.body, err)
			}
			for _, r := range hub.SubDevices {
				v2[r.Device] = r
			}
			return v1, v2
		}
		check := func(what, silent string, age float64) {
			t.Helper()
			v1, v2 := look()
			for _, sub := range drivers.SubDevices(drivers.TypeO3) {
				gone, r := sub == silent, v2[sub]
				if (v1[sub] == device.Offline) != gone || r.Stale != gone || (r.Value == nil) != gone || (r.Reason != "") != gone {
					t.Errorf("%s: %s is %s in V1.0, in V2.0 %+v", what, sub, v1[sub], r)
				}
				if gone && r.AgeS < age || !gone && r.AgeS > 5 {
					t.Errorf("%s: the age of %s is %g", what, sub, r.AgeS)
				}
			}
		}
		time.Sleep(10 * time.Second)
		for _, c := range []struct {
			by, back string
			within   time.Duration
		}{
			{"unplug", "plug", 2 * time.Second}, // its address or its line is not there, and that is definite
			{"stick", "unstick", 9 * time.Second},
		} {
			for _, sub := range drivers.SubDevices(drivers.TypeO3) {
				b.move("aurora", sub, c.by)
				time.Sleep(c.within)
				check(sub+" "+c.by, sub, c.within.Seconds()-3)
				b.move("aurora", sub, c.back)
				time.Sleep(5 * time.Second)
				check(sub+" "+c.back, "", 0)
			}
		}
	})
}
