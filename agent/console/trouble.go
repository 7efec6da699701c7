package console

import (
	"encoding/json"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/edge"
	"roomgate/agent/eventlog"
	"roomgate/agent/eventwords"
)

const (
	// reportedFor is how long the overview shows what somebody at a door has reported.
	reportedFor = 24 * time.Hour
	// maxReports is how many reports it looks through.
	maxReports = 50
)

// troubles are what the rooms need somebody for: devices that have failed to do the last thing they were told, and what people
// at the doors have reported.
func (l *Look) troubles() (all []Finding, err error) {
	names := map[string]string{}
	for _, s := range l.spaces() {
		names[s.ID] = s.Name
		for _, d := range s.Devices {
			if last := d.Last(); last != nil && last.Receipt.State == device.Failed {
				all = append(all, Finding{Name: joined(", ", s.Name, typeWords[d.Type]), State: "fail", Seen: "Its last command: " + receiptText(last, s.Room.Terms().Zone),
					Fix: "look at the device, then give the command again", To: "/console/space?id=" + s.ID, Page: s.Name})
			}
		}
	}
	found, err := l.recent.Look(l.o.Agent.Events, eventlog.Filter{Type: edge.EventReported, Limit: maxReports})
	return append(all, reported(found, names, time.Now(), l.zone())...), err
}

// reported are the reports of the last day, the newest first. What is reported again is told once.
func reported(found []eventlog.Event, names map[string]string, now time.Time, zone *time.Location) (all []Finding) {
	told := map[string]bool{}
	for i := len(found) - 1; i >= 0; i-- {
		e := found[i]
		var r struct {
			Details map[string]any `json:"details"`
		}
		_ = json.Unmarshal(e.Record, &r) // we wrote it
		problem, _ := r.Details["problem"].(string)
		if name := names[e.SpaceID]; name != "" && now.Sub(e.Time) < reportedFor && !told[e.SpaceID+problem] {
			told[e.SpaceID+problem] = true
			all = append(all, Finding{Name: joined(", ", name, "a problem was reported"), State: "warn", Seen: e.Time.In(zone).Format("2 Jan 15:04: ") + eventwords.Sentence(e.Type, r.Details, e.Time, zone),
				Fix: "look after it; this is shown for a day", To: "/console/events?type=" + e.Type + "&space=" + e.SpaceID, Page: "Its reports"})
		}
	}
	return all
}
