package sim

import (
	"strings"
	"testing"
	"testing/synctest"
)

// rooms is a world with two rooms.
func rooms(t *testing.T) (*World, map[string]Part) {
	t.Helper()
	w := NewWorld()
	t.Cleanup(w.Close)
	parts := map[string]Part{}
	add := func(space, device, name string, p Part) {
		if err := w.Add(space, device, p); err != nil {
			t.Fatal(err)
		}
		parts[name] = p
	}
	add("Aurora", "lock", "door", &Door{Relay: "a.relay"})
	add("Aurora", "fan", "fan", &Fan{PWM: "a.fan"})
	add("Borealis", "o3-sensor", "chip", &TMP102{Bus: "b.i2c"})
	add("Borealis", "o3-sensor", "pir", &PIR{Line: "b.pir"})
	add("Borealis", "lock", "other", &Door{Relay: "b.relay"})
	w.Alias("Aurora", "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01")
	return w, parts
}

func TestControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, parts := rooms(t)
		tests := []struct {
			order, answer string
		}{
			{"aurora lock", "lock: bolt thrown, leaf shut"},
			{"AURORA Lock jam", "Lock: the bolt is jammed"},
			{"7C0B2A54-3f0e-4d8e-9a51-0d2f6b1e4a01 lock free", "lock: the bolt moves freely"},
			{"aurora lock force", "lock: the leaf was forced open"},
			{"aurora lock", "lock: bolt thrown, leaf ajar"},
			{"borealis temperature 31.5", "temperature: 31.5 °C"},
			{"borealis temperature", "temperature: 31.5 °C"},
			{"borealis occupancy occupied", "occupancy: sees somebody"},
			{"borealis o3-sensor", "o3-sensor: 31.5 °C, sees somebody"},
			{"borealis o3-sensor unplug", "o3-sensor: unplugged"},
			{"borealis temperature", "temperature: 31.5 °C (unplugged)"},
			{"aurora fan delay 2s", "fan: every answer takes 2s longer"},
			{"aurora fan stick", "fan: stuck, it no longer answers"},
			{"aurora fan", "fan: turns at 0 rpm (stuck, delayed by 2s)"},
			{"aurora fan nodelay", "fan: answers at once"},
		}
		for _, tt := range tests {
			args := strings.Fields(tt.order)
			if got, err := w.Control(args[0], args[1], args[2:]...); got != tt.answer || err != nil {
				t.Errorf("%s: %q, %v, want %q", tt.order, got, err, tt.answer)
			}
		}
		for name, want := range map[string]string{"chip": "unplugged", "pir": "unplugged", "other": "", "door": ""} {
			if got := parts[name].wrong(); got != want {
				t.Errorf("%s is %q, want %q: unplug of a device hits all its parts, and no other", name, got, want)
			}
		}
	})
}

func TestControlSaysWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := rooms(t)
		tests := []struct {
			order, want string
		}{
			{"atlantis lock jam", "want one of aurora, borealis"},
			{"aurora camera unplug", "want one of fan, lock"},
			{"borealis lamp unplug", "want one of lock, o3-sensor, occupancy, temperature"},
			{"aurora lock explode", "want one of ajar, delay, force, free, garble, jam, nodelay, plug, shut, stick, ungarble, unplug, unstick"},
			{"aurora lock jam now", "want one of"},
			{"aurora lock ajar", "open the lock first"},
			{"borealis temperature warm", "from -55 to 150"},
			{"borealis temperature NaN", "from -55 to 150"},
			{"borealis temperature 200", "from -55 to 150"},
			{"aurora fan delay", "want one of"},
			{"aurora fan delay soon", "from 0s to 10m"},
			{"aurora fan delay -1s", "from 0s to 10m"},
		}
		for _, tt := range tests {
			args := strings.Fields(tt.order)
			if got, err := w.Control(args[0], args[1], args[2:]...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %q, %v, want an error with %q", tt.order, got, err, tt.want)
			}
		}
	})
}
