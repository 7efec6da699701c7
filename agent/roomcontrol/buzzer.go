package roomcontrol

import (
	"time"

	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// softBeep is one short sound. A hub that plays files plays its bell once.
var softBeep = device.Value(map[string]any{"pattern": "single", "seconds": 0.2})

// buzzer reminds a room that its booking will be released, softly and once: when
// the schedule has stored that it was warned of, so neither a restart nor a clock
// that is set sounds it again. People who are seen in the room keep it anyway and are
// not disturbed. A hub that is offline may come back until the release; a
// command that failed may have sounded, and is not repeated.
type buzzer struct {
	room  *schedule.Room
	heard string // the booking that this is done with
}

func (z *buzzer) observe(v view, _ device.Reading) {
	b := z.room.Warned()
	if b == nil || b.ID == z.heard {
		return
	}
	now, ok := z.room.Bookings().Get(b.ID)
	if at, released := now.ReleaseAt(v.rules); !ok || !released || !v.now.Before(at) || v.presence == schedule.Occupied {
		z.heard = b.ID
	}
}

func (z *buzzer) intend(view, device.Reading) intent {
	b := z.room.Warned()
	if b == nil || b.ID == z.heard {
		return intent{}
	}
	return intent{action: drivers.ActBeep, value: softBeep, goal: b.ID, once: true}
}

func (z *buzzer) fulfilled(i intent, _ time.Time) { z.heard = i.goal }
func (z *buzzer) lost()                           {}
