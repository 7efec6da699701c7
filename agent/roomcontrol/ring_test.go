package roomcontrol

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/drivers"
)

func TestRingThroughADay(t *testing.T) {
	for space, yaml := range map[string]string{aurora: rooms + mqttHub, borealis: rooms} {
		synctest.Test(t, func(t *testing.T) {
			h := follows(t, yaml)
			id := h.book(space, "00:15", "00:30")
			h.ring(space, green)
			h.at("00:04:59")
			h.ring(space, green)
			h.at("00:05:02")
			h.ring(space, amber)
			h.at("00:17")
			h.checkIn(id)
			h.ring(space, red)
			h.at("00:30:02")
			h.ring(space, green)
			h.hold(space, booking.Disabled)
			h.ring(space, drivers.Off)
			h.hold(space, booking.Available)
			h.ring(space, green)
			h.gave(space, drivers.TypeO3, "ring-light color", "ring-light color", "ring-light color", "ring-light color", "ring-light off", "ring-light color")
		})
	}
}

func TestNoShowBeepsOnceAndIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		h.book(borealis, "00:15", "00:45")
		h.at("00:22:59")
		h.ring(borealis, amber)
		h.gave(borealis, drivers.TypeO3, "ring-light color", "ring-light color")
		h.at("00:23:02")
		h.gave(borealis, drivers.TypeO3, "ring-light color", "ring-light color", "buzzer beep")
		h.at("00:23:10")
		h.sees(borealis, drivers.TypeO3, drivers.SubBuzzer, drivers.Off) // it was short
		h.restart()
		h.at("00:25:02")
		h.ring(borealis, green)
		h.gave(borealis, drivers.TypeO3, "ring-light color", "ring-light color", "buzzer beep", "ring-light color", "ring-light color")
	})
}

func TestNoBeepForWhoIsInTheRoomOrCheckedIn(t *testing.T) {
	for _, come := range []func(*house, string){
		func(h *house, _ string) { h.is(borealis, "occupancy", "occupied") },
		func(h *house, id string) { h.checkIn(id) },
	} {
		synctest.Test(t, func(t *testing.T) {
			h := follows(t, rooms)
			id := h.book(borealis, "00:15", "00:45")
			h.at("00:22:30")
			come(h, id)
			h.at("00:35")
			if slices.Contains(h.given(borealis, drivers.TypeO3), "buzzer beep") {
				t.Error("it beeped")
			}
		})
	}
}

// A hub that is away when the room is to be reminded may come back until the
// release, and is not heard after it.
func TestBeepWaitsForTheHub(t *testing.T) {
	for back, want := range map[string]bool{"00:24": true, "00:26": false} {
		synctest.Test(t, func(t *testing.T) {
			h := follows(t, rooms)
			h.book(borealis, "00:15", "00:45")
			h.at("00:22")
			h.is(borealis, "o3-sensor", "unplug")
			h.at(back)
			h.is(borealis, "o3-sensor", "plug")
			h.pass(time.Minute)
			if got := slices.Contains(h.given(borealis, drivers.TypeO3), "buzzer beep"); got != want {
				t.Errorf("back at %s it beeped: %v", back, got)
			}
		})
	}
}

func TestRingAfterARestart(t *testing.T) {
	for space, yaml := range map[string]string{aurora: rooms + mqttHub, borealis: rooms} {
		synctest.Test(t, func(t *testing.T) {
			h := follows(t, yaml)
			h.checkIn(h.book(space, "00:00", "00:30"))
			h.ring(space, red)
			h.command(space, drivers.TypeO3, drivers.SubRing, drivers.ActColor, "#0000ff")
			before := len(h.given(space, drivers.TypeO3))
			h.restart()
			h.ring(space, red)
			if n := len(h.given(space, drivers.TypeO3)); n != before+1 {
				t.Errorf("%d commands since the restart, want one", n-before)
			}
		})
	}
}

func TestRingOfAHubThatComesBack(t *testing.T) {
	for space, yaml := range map[string]string{aurora: rooms + mqttHub, borealis: rooms} {
		synctest.Test(t, func(t *testing.T) {
			h := follows(t, yaml)
			id := h.book(space, "00:00", "00:30")
			h.is(space, "o3-sensor", "unplug")
			h.pass(time.Minute)
			before := len(h.given(space, ""))
			h.checkIn(id)
			h.pass(time.Minute)
			if n := len(h.given(space, drivers.TypeO3)); n != before {
				t.Errorf("%d commands to a hub that is offline", n-before)
			}
			h.is(space, "o3-sensor", "plug")
			h.pass(time.Minute)
			h.ring(space, red)
			h.is(space, "o3-sensor", "unplug")
			h.pass(time.Minute)
			h.is(space, "o3-sensor", "plug")
			h.pass(time.Minute)
			h.ring(space, red)
			if n := len(h.given(space, drivers.TypeO3)); n != before+2 {
				t.Errorf("%d commands since it was unplugged first, want one each time that it came back", n-before)
			}
		})
	}
}

func TestSomebodyElsesColourStaysUntilTheStatusChanges(t *testing.T) {
	for space, yaml := range map[string]string{aurora: rooms + mqttHub, borealis: rooms} {
		synctest.Test(t, func(t *testing.T) {
			h := follows(t, yaml)
			h.book(space, "00:15", "00:30")
			h.command(space, drivers.TypeO3, drivers.SubRing, drivers.ActColor, "#0000ff")
			if space == borealis {
				h.command(space, drivers.TypeO3, drivers.SubRing, drivers.ActPattern, "blink")
			}
			h.at("00:04:59")
			h.ring(space, "#0000ff")
			h.at("00:05:05")
			h.ring(space, amber)
			r, _ := h.status(space, drivers.TypeO3, drivers.SubRing)
			if r.Details["pattern"] == "blink" {
				t.Error("amber still blinks")
			}
		})
	}
}

// A hub that does not follow is tried a few times, further and further apart,
// and again when the status changes.
func TestRingThatDoesNotFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms+mqttHub)
		h.book(aurora, "00:45", "01:00")
		h.is(aurora, "o3-sensor", "numb")
		h.hold(aurora, booking.Disabled)
		h.pass(20 * time.Minute)
		if n := len(h.given(aurora, "")); n != 1+6 {
			t.Errorf("%d commands, want one that was followed and six that were not", n)
		}
		h.is(aurora, "o3-sensor", "unnumb")
		h.hold(aurora, booking.Available)
		h.ring(aurora, green)
	})
}

func TestSwitchedOffIsNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms, "{ring: true, light: true, fan: true, door: true, beep: true, off_after: 2m}", "{ring: false}")
		h.command(borealis, drivers.TypeLight, "", drivers.ActOn, nil)
		id := h.book(borealis, "00:15", "00:45")
		h.book(borealis, "01:00", "01:30")
		h.at("00:16")
		h.checkIn(id)
		h.at("01:15")
		h.gave(borealis, "")
		h.ring(borealis, drivers.Off)
		h.light(borealis, drivers.On)
		h.door(borealis, drivers.Closed)
	})
}

// A status that changes by the moment costs one command in a second at the most.
func TestRingOfAHastyStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		before := len(h.given(borealis, drivers.TypeO3))
		for range 25 {
			for _, s := range []booking.Status{booking.Disabled, booking.Available} {
				if _, err := h.Book.Hold(t.Context(), borealis, booking.Hold{Status: s}); err != nil {
					t.Fatal(err)
				}
				h.pass(100 * time.Millisecond)
			}
		}
		if n := len(h.given(borealis, drivers.TypeO3)) - before; n > 6 {
			t.Errorf("%d commands in 5 s", n)
		}
		h.pass(2 * time.Second)
		h.ring(borealis, green)
	})
}

func TestLightThatHangsKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		h.is(borealis, "light", "stick")
		h.walkUp(borealis)
		h.ring(borealis, red)
		h.door(borealis, drivers.Open)
		h.is(borealis, "light", "unstick")
		h.pass(time.Minute)
		h.light(borealis, drivers.On)
	})
}
