package roomcontrol

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

func TestLightAndFanAreOnForTheMeeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		id := h.book(borealis, "00:15", "00:30")
		h.at("00:14")
		h.light(borealis, drivers.Off)
		h.checkIn(id)
		h.light(borealis, drivers.On)
		h.sees(borealis, drivers.TypeFan, "", drivers.On)
		h.at("00:25") // the sensor has seen nobody, who sit still
		h.light(borealis, drivers.On)
		h.is(borealis, "occupancy", "occupied")
		h.at("00:31")
		h.light(borealis, drivers.On) // the meeting is over, the people are not
		h.is(borealis, "occupancy", "vacant")
		h.at("00:33")
		h.light(borealis, drivers.On)
		h.at("00:33:30")
		h.light(borealis, drivers.Off)
		h.sees(borealis, drivers.TypeFan, "", drivers.Off)
		h.gave(borealis, drivers.TypeLight, "on", "off")
		h.gave(borealis, drivers.TypeFan, "on", "off")
	})
}

func TestLightIsOnForAWalkUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		h.walkUp(borealis)
		h.light(borealis, drivers.On)
	})
}

func (h *house) walkUp(space string) string {
	h.t.Helper()
	b, _, err := h.Book.Create(h.t.Context(), booking.Booking{SpaceID: space, Source: booking.WalkUp}, schedule.Caller{})
	if err != nil {
		h.t.Fatal(err)
	}
	h.pass(3 * time.Second)
	return b.ID
}

func TestLightThatSomebodySwitches(t *testing.T) {
	for name, play := range map[string]func(h *house){
		"off during the meeting": func(h *house) {
			h.checkIn(h.book(borealis, "00:00", "00:30"))
			h.command(borealis, drivers.TypeLight, "", drivers.ActOff, nil)
			h.at("00:20")
			h.light(borealis, drivers.Off)
			h.restart()
			h.light(borealis, drivers.Off)
			h.gave(borealis, drivers.TypeLight, "on")
		},
		"on in an empty room": func(h *house) {
			h.at("00:10")
			h.command(borealis, drivers.TypeLight, "", drivers.ActOn, nil)
			h.pass(time.Minute)
			h.command(borealis, drivers.TypeLight, "", drivers.ActIntensity, 30) // the time begins again
			h.pass(90 * time.Second)
			h.light(borealis, drivers.On)
			h.pass(time.Minute)
			h.light(borealis, drivers.Off)
		},
		"on before the meeting": func(h *house) {
			h.command(borealis, drivers.TypeLight, "", drivers.ActIntensity, 30)
			h.checkIn(h.book(borealis, "00:00", "00:30"))
			h.gave(borealis, drivers.TypeLight)
			h.at("00:31")
			h.light(borealis, drivers.Off) // whoever switched it on, nobody is there
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(follows(t, rooms)) })
		})
	}
}

func TestLightAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		h.checkIn(h.book(borealis, "00:00", "00:30"))
		h.restart()
		h.light(borealis, drivers.On)
		h.at("00:31")
		h.light(borealis, drivers.Off)
	})
}

// blind is the room without its sensor.
func blind() string {
	before, _, _ := strings.Cut(rooms, "      - {id: o3,")
	return before
}

func TestLightWithoutASensor(t *testing.T) {
	for name, play := range map[string]func(h *house){
		"off after the end": func(h *house) {
			h.at("00:31:50")
			h.light(borealis, drivers.On)
			h.at("00:32:10")
			h.light(borealis, drivers.Off)
		},
		"also after a restart": func(h *house) {
			h.restart()
			h.light(borealis, drivers.On)
			h.at("00:32:10")
			h.light(borealis, drivers.Off)
		},
		"not if somebody has commanded it since": func(h *house) {
			h.command(borealis, drivers.TypeLight, "", drivers.ActIntensity, 30)
			h.at("00:45")
			h.light(borealis, drivers.On)
		},
		"not while the next meeting is checked in": func(h *house) {
			id := h.book(borealis, "00:30", "00:45")
			h.at("00:25")
			h.checkIn(id)
			h.at("00:44")
			h.light(borealis, drivers.On)
			h.at("00:47:10")
			h.light(borealis, drivers.Off)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := follows(t, blind())
				h.checkIn(h.book(borealis, "00:00", "00:30"))
				h.light(borealis, drivers.On)
				play(h)
			})
		})
	}
}

// A sensor that is silent is no witness that the room is empty.
func TestSilentSensorLeavesNobodyInTheDark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms)
		h.checkIn(h.book(borealis, "00:00", "00:30"))
		h.is(borealis, "o3-sensor", "unplug")
		h.at("00:29")
		h.light(borealis, drivers.On)
		h.at("00:33")
		h.light(borealis, drivers.Off)
	})
}

func TestLightWhereNobodyChecksIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, rooms, "name: Borealis", "name: Borealis\n    booking: {check_in: false}")
		h.book(borealis, "00:15", "00:45")
		h.at("00:16")
		h.light(borealis, drivers.Off) // nobody came yet
		h.is(borealis, "occupancy", "occupied")
		h.light(borealis, drivers.On)
		h.is(borealis, "occupancy", "vacant")
		h.at("00:19")
		h.light(borealis, drivers.Off)
		h.is(borealis, "occupancy", "occupied")
		h.light(borealis, drivers.On)
		h.door(borealis, drivers.Closed) // without a check-in it stays so
	})
}
