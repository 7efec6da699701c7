package acceptance_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"roomgate/agent/acceptance"
	"roomgate/agent/agenttest"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/drivers"
)

func raw(t *testing.T, v any) json.RawMessage {
	t.Helper()
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func command(t *testing.T, b *agenttest.Building, deviceType, sub, action string, value any) {
	t.Helper()
	r, err := b.Commands.Do(t.Context(), device.Command{Space: agenttest.Borealis, DeviceType: deviceType, SubDevice: sub, Action: action, Value: raw(t, value)})
	if err != nil || r.State != device.Done {
		t.Fatalf("%s %s: %+v, %v", deviceType, action, r, err)
	}
}

// Each device shows itself by ordinary commands, which are events, and is then
// what it was.
func TestIdentifyRestores(t *testing.T) {
	for _, c := range []struct {
		deviceType, sub, what string
		before                func(t *testing.T, b *agenttest.Building)
	}{
		{drivers.TypeLight, "", "on and off", func(t *testing.T, b *agenttest.Building) {
			command(t, b, drivers.TypeLight, "", drivers.ActIntensity, 35)
		}},
		{drivers.TypeLight, "", "on and off", func(*testing.T, *agenttest.Building) {}},
		{drivers.TypeFan, "", "runs up", func(t *testing.T, b *agenttest.Building) {
			command(t, b, drivers.TypeFan, "", drivers.ActIntensity, 60)
		}},
		{drivers.TypeFan, "", "runs up", func(*testing.T, *agenttest.Building) {}},
		{drivers.TypeO3, drivers.SubRing, "blinks", func(t *testing.T, b *agenttest.Building) {
			command(t, b, drivers.TypeO3, drivers.SubRing, drivers.ActColor, "#ff8800")
			command(t, b, drivers.TypeO3, drivers.SubRing, drivers.ActPattern, "breathe")
		}},
		{drivers.TypeO3, drivers.SubBuzzer, "beeps", func(*testing.T, *agenttest.Building) {}},
		{drivers.TypeLock, "", "clicks", func(*testing.T, *agenttest.Building) {}},
		{drivers.TypeCamera, "", "picture", func(t *testing.T, b *agenttest.Building) {}},
		{drivers.TypeDisplay, "", "This is Borealis", func(t *testing.T, b *agenttest.Building) {
			command(t, b, drivers.TypeDisplay, "", drivers.ActOff, nil)
		}},
	} {
		inBuilding(t, func(t *testing.T, b *agenttest.Building) {
			c.before(t, b)
			time.Sleep(10 * time.Second)
			was, _ := b.Site.Status(agenttest.Borealis, c.deviceType, c.sub)
			_, log, _ := b.Events.Latest(eventlog.Filter{Limit: 1})
			var shown []acceptance.Shown
			err := room(t, b, agenttest.Borealis).Identify(t.Context(), c.deviceType, c.sub, func(s acceptance.Shown) { shown = append(shown, s) })
			if err != nil || len(shown) != 1 || !strings.Contains(shown[0].What, c.what) {
				t.Fatalf("%s %s showed %+v, %v", c.deviceType, c.sub, shown, err)
			}
			time.Sleep(10 * time.Second)
			is, _ := b.Site.Status(agenttest.Borealis, c.deviceType, c.sub)
			if was.Record != is.Record || !same(was.Details, is.Details) {
				t.Errorf("%s %s was %+v %v and is %+v %v", c.deviceType, c.sub, was.Record, was.Details, is.Record, is.Details)
			}
			events, _, _ := b.Events.Find(eventlog.Filter{After: log, Type: "commandCompleted", Limit: 100})
			if len(events) < 2 && c.deviceType != drivers.TypeCamera {
				t.Errorf("%s %s: only %d events of it", c.deviceType, c.sub, len(events))
			}
		})
	}
}

// same compares the details that a command sets.
func same(a, b map[string]any) bool {
	for _, name := range []string{"intensity", "color", "pattern", "brightness", "backlight"} {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

// A whole hub shows its ring and its buzzer; what cannot show itself says so.
func TestIdentifyAHub(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *agenttest.Building) {
		for _, id := range []string{agenttest.Aurora, agenttest.Borealis} {
			var shown []string
			err := room(t, b, id).Identify(t.Context(), drivers.TypeO3, "", func(s acceptance.Shown) { shown = append(shown, s.Device) })
			if err != nil || strings.Join(shown, " ") != "ring-light buzzer" {
				t.Errorf("showed %v, %v", shown, err)
			}
		}
		r := room(t, b, agenttest.Borealis)
		for deviceType, sub := range map[string]string{drivers.TypeO3: drivers.SubTemperature, "kettle": ""} {
			if err := r.Identify(t.Context(), deviceType, sub, func(acceptance.Shown) { t.Error("it showed itself") }); err == nil {
				t.Errorf("%s %s showed itself", deviceType, sub)
			}
		}
	})
}

// A lock that is open is not touched: nobody knows for whom it is.
func TestIdentifyLeavesAnOpenLock(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *agenttest.Building) {
		command(t, b, drivers.TypeLock, "", drivers.ActOpen, nil)
		err := room(t, b, agenttest.Borealis).Identify(t.Context(), drivers.TypeLock, "", func(acceptance.Shown) {})
		if s, _ := b.Site.Status(agenttest.Borealis, drivers.TypeLock, ""); err == nil || s.Value != drivers.Open {
			t.Errorf("%v, and it is %s", err, s.Value)
		}
	})
}

// A jammed lock fails its show and is not left unlocked.
func TestIdentifyTellsWhatFails(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *agenttest.Building) {
		control(t, b, "borealis", "lock", "jam")
		err := room(t, b, agenttest.Borealis).Identify(t.Context(), drivers.TypeLock, "", func(acceptance.Shown) {})
		if err == nil || !strings.Contains(err.Error(), "did not follow") {
			t.Errorf("got %v", err)
		}
	})
}
