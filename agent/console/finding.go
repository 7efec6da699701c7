package console

import (
	"strings"
	"sync"
	"time"
)

// Findings are what an examination of the gateway has found.
type Findings struct {
	At  time.Time // zero: it goes on
	All []Finding
}

// Finding is one of them, with what to do about it, as doctor.Finding is in JSON.
type Finding struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Seen  string `json:"seen"`
	Fix   string `json:"fix"`
	// To is the page of the console where that is done, and Page its title; empty: it is done elsewhere.
	To   string `json:"-"`
	Page string `json:"-"`
}

// outages are which devices are away, with a clock that is not trusted, and since when it is these: what the doctor has found
// before is not about them.
type outages struct {
	mu   sync.Mutex
	away string
	at   time.Time
}

// since is when others came to be away than these.
func (o *outages) since(away string, now time.Time) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if away != o.away || o.at.IsZero() {
		o.away, o.at = away, now
	}
	return o.at
}

// offline are the devices of the building that are away, and its clock if it is not trusted.
func (l *Look) offline() string {
	var away []string
	if !l.trusted() {
		away = append(away, "clock")
	}
	for _, s := range l.spaces() {
		for _, d := range s.Devices {
			for _, r := range d.Readings() {
				if r.Offline() {
					away = append(away, d.ID+" "+r.SubDevice)
				}
			}
		}
	}
	return strings.Join(away, ", ")
}
