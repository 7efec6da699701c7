package agent

import (
	"time"

	"roomgate/agent/device"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// softBeep is one short sound. A hub that plays files plays its bell once.
var softBeep = jsonValue(map[string]any{"pattern": "single", "seconds": 0.2})

// beep reminds a room that its booking will be released, softly and once: when
// the schedule has stored that it was warned of, so neither a restart nor a clock
// that is set sounds it again. Who is seen in the room keeps it anyway and is
// not disturbed. A hub that is offline may come back until the release; an
// order that failed may have sounded, and is not repeated.
type beep struct {
	space *space
	heard string // the booking that this is done with
}

func (p *beep) observe(v sight, _ device.Reading) {
	b := p.space.room.Warned()
	if b == nil || b.ID == p.heard {
		return
	}
	now, ok := p.space.room.Bookings().Get(b.ID)
	if at, released := now.ReleaseAt(v.rules); !ok || !released || !v.now.Before(at) || v.presence == schedule.Occupied {
		p.heard = b.ID
	}
}

func (p *beep) wish(sight, device.Reading) wish {
	b := p.space.room.Warned()
	if b == nil || b.ID == p.heard {
		return wish{}
	}
	return wish{action: drivers.ActBeep, value: softBeep, goal: b.ID, once: true}
}

func (p *beep) granted(w wish, _ time.Time) { p.heard = w.goal }
func (p *beep) lost()                       {}
