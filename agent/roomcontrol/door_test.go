package roomcontrol

import (
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/drivers"
)

func TestDoorIsOpenForTheMeeting(t *testing.T) {
	for name, play := range map[string]func(h *house){
		"from check-in to the end": func(h *house) {
			id := h.book(borealis, "00:15", "00:45")
			h.at("00:16")
			h.door(borealis, drivers.Closed)
			h.checkIn(id)
			h.door(borealis, drivers.Open)
			h.is(borealis, "occupancy", "occupied")
			h.at("00:44:58")
			h.door(borealis, drivers.Open)
			h.at("00:45:10")
			h.door(borealis, drivers.Closed)
			h.gave(borealis, drivers.TypeLock, "open", "close")
		},
		"from an early check-in": func(h *house) {
			id := h.book(borealis, "00:15", "00:45")
			h.at("00:05:10")
			h.checkIn(id)
			h.at("00:14:59") // an empty room locks again when it should be in use
			h.door(borealis, drivers.Open)
		},
		"a walk-up": func(h *house) {
			id := h.walkUp(borealis)
			h.door(borealis, drivers.Open)
			h.end(id)
			h.door(borealis, drivers.Closed)
		},
		"not into the meeting before": func(h *house) {
			first := h.book(borealis, "00:00", "00:30")
			h.checkIn(first)
			h.command(borealis, drivers.TypeLock, "", drivers.ActClose, nil)
			second := h.book(borealis, "00:30", "00:45")
			h.at("00:25")
			h.checkIn(second)
			h.door(borealis, drivers.Closed)
			h.at("00:30:05")
			h.door(borealis, drivers.Open)
			h.gave(borealis, drivers.TypeLock, "open", "open")
		},
		"locked by somebody stays locked": func(h *house) {
			h.checkIn(h.book(borealis, "00:00", "00:30"))
			h.command(borealis, drivers.TypeLock, "", drivers.ActClose, nil)
			h.at("00:31")
			h.door(borealis, drivers.Closed)
			h.gave(borealis, drivers.TypeLock, "open")
		},
		"opened by somebody is locked at the end": func(h *house) {
			h.checkIn(h.book(borealis, "00:00", "00:30"))
			h.is(borealis, "occupancy", "occupied")
			h.command(borealis, drivers.TypeLock, "", drivers.ActOpen, nil)
			h.at("00:30:10")
			h.door(borealis, drivers.Closed)
		},
		"not when the room is disabled": func(h *house) {
			h.checkIn(h.book(borealis, "00:00", "00:30"))
			h.hold(borealis, booking.Disabled)
			h.door(borealis, drivers.Closed)
			h.hold(borealis, booking.Available)
			h.pass(time.Minute)
			h.door(borealis, drivers.Closed)
		},
		"outside of meetings it is not ours": func(h *house) {
			h.pass(time.Minute)
			h.command(borealis, drivers.TypeLock, "", drivers.ActOpen, nil)
			h.at("00:20")
			h.door(borealis, drivers.Open)
			h.gave(borealis, drivers.TypeLock)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(follows(t, rooms)) })
		})
	}
}

func TestDoorOfARoomThatIsEmptyIsLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		h.checkIn(h.book(borealis, "00:00", "00:30"))
		h.pass(90 * time.Second)
		h.door(borealis, drivers.Open)
		h.pass(time.Minute)
		h.door(borealis, drivers.Closed)
		h.is(borealis, "occupancy", "occupied") // a sensor lets nobody in
		h.pass(time.Minute)
		h.door(borealis, drivers.Closed)
		h.gave(borealis, drivers.TypeLock, "open", "close")
	})
}

func TestDoorThatPulses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms, "mode: hold", "mode: pulse")
		h.checkIn(h.book(borealis, "00:00", "00:30"))
		h.door(borealis, drivers.Open)
		h.pass(15 * time.Second)
		h.door(borealis, drivers.Closed)
		h.at("00:40")
		h.gave(borealis, drivers.TypeLock, "open")
	})
}

func TestRestartOpensNoDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		h.checkIn(h.book(borealis, "00:00", "00:30"))
		h.door(borealis, drivers.Open)
		h.restart() // less than a minute after the check-in
		h.door(borealis, drivers.Closed)
		h.at("00:31")
		h.door(borealis, drivers.Closed)
		h.gave(borealis, drivers.TypeLock, "open")
	})
}

func TestUntrustedClockOpensNoDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms, "trust: always", "trust: never")
		h.walkUp(borealis)
		h.pass(time.Minute)
		h.door(borealis, drivers.Closed)
		h.light(borealis, drivers.On) // a light does no harm
		h.ring(borealis, red)
		h.gave(borealis, drivers.TypeLock)
	})
}

// A lock that was away opens if it is back within a minute: later, who checked
// in may have gone.
func TestDoorOfALockThatWasAway(t *testing.T) {
	for away, want := range map[time.Duration]string{20 * time.Second: drivers.Open, 3 * time.Minute: drivers.Closed} {
		synctest.Test(t, func(t *testing.T) {
			h := follows(t, rooms)
			h.is(borealis, "lock", "unplug")
			h.pass(time.Minute)
			h.checkIn(h.book(borealis, "00:00", "00:30"))
			h.pass(away)
			h.is(borealis, "lock", "plug")
			h.pass(45 * time.Second) // a device that was away is tried again within 30 s
			h.door(borealis, want)
		})
	}
}

// A bolt that sticks open is tried until it is locked, further and further
// apart.
func TestDoorThatDoesNotLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		id := h.walkUp(borealis)
		h.is(borealis, "lock", "jam")
		h.end(id)
		h.pass(30 * time.Minute)
		h.door(borealis, drivers.Open)
		if n := len(h.given(borealis, drivers.TypeLock)); n < 8 || n > 14 {
			t.Errorf("%d commands in half an hour, want them further and further apart", n)
		}
		h.is(borealis, "lock", "free")
		h.pass(11 * time.Minute)
		h.door(borealis, drivers.Closed)
	})
}
