package console

import (
	"cmp"
	"fmt"
	"time"

	"roomgate/agent/health"
	"roomgate/agent/web"
)

// facts are how the gateway is.
func (l *Look) facts() []Fact {
	a := l.o.Agent
	r, away := a.Health.Report(), a.Cloud.Away()
	all := []Fact{cloudFact(a.Cloud.Configured(), r, away), runwayFact(r), clockFact(r.Clock, l.zone()), diskFact(r.StoreState), cardFact(r.Card)}
	version := Fact{Name: "Version", Value: r.Version, More: "up for " + web.Length(time.Duration(r.UptimeS)*time.Second)}
	if u, err := l.o.Errands.Updates(); err == nil {
		version.More = cmp.Or(u.Status().Waiting(), version.More)
	}
	all = append(all, version)
	if r.TemperatureC != nil {
		all = append(all, Fact{Name: "Processor", Value: fmt.Sprintf("%.0f °C", *r.TemperatureC), Bad: *r.TemperatureC > 80})
	}
	return all
}

func cloudFact(configured bool, r health.Report, away time.Duration) Fact {
	f := Fact{Name: "Cloud", Value: "connected"}
	switch {
	case !configured:
		f.Value, f.More = "none", "the configuration names none"
	case !r.CloudConnected:
		f.Value, f.Bad = outFor(away), away > cloudAwayAfter
		if r.CloudTrouble != nil {
			f.More = r.CloudTrouble.Seen
		}
	}
	if configured && r.DoorOrders == health.DoorsUnsigned {
		f.More = joined("; ", f.More, "its door commands are unsigned")
	}
	return f
}

// runwayFact is for how long the outbox holds what the cloud has not taken.
func runwayFact(r health.Report) Fact {
	waiting := fmt.Sprintf("%d messages wait for the cloud", r.OutboxDepth)
	if r.OutboxDepth == 1 {
		waiting = "1 message waits for the cloud"
	}
	f := Fact{Name: "Outbox", Value: fmt.Sprintf("room for %.0f h", r.OutboxHours), More: waiting,
		Bad: r.OutboxHours >= 0 && r.OutboxHours < 24 && r.UptimeS > 3600} // the pace of the first hour is that of the start
	switch {
	case r.OutboxHours < 0:
		f.Value = "room for more than a year"
	case r.OutboxHours > 24*14:
		f.Value = fmt.Sprintf("room for %.0f days", r.OutboxHours/24)
	}
	return f
}

func clockFact(c health.Clock, zone *time.Location) Fact {
	f := Fact{Name: "Clock", Value: c.Now.In(zone).Format("15:04"), More: "trusted, in " + zone.String()}
	if !c.Trusted {
		f.Value, f.More, f.Bad = "not trusted", joined(", ", c.Reason, "it shows "+c.Now.In(zone).Format("2006-01-02 15:04")), true
	}
	return f
}

func diskFact(s health.StoreState) Fact {
	return Fact{Name: "Disk", Value: web.Bytes(s.DiskFreeBytes) + " free", Bad: s.DiskFreeBytes < 200<<20,
		More: fmt.Sprintf("the database has %s, of the last day %s were written", web.Bytes(s.StoreBytes), web.Bytes(s.StoreWrittenDay))}
}

func cardFact(c *health.Card) Fact {
	f := Fact{Name: "Card", Value: "not known", More: "the data folder is on no card that tells of itself"}
	if c == nil {
		return f
	}
	f.More = c.Name
	if c.UsedPercent != nil {
		f.Value, f.Bad = fmt.Sprintf("%d %% of its life used", *c.UsedPercent), *c.UsedPercent >= 80
	}
	if c.YearsEstimate != nil {
		years := fmt.Sprintf("about %.0f years at this pace", *c.YearsEstimate)
		if c.UsedPercent == nil {
			f.Value = years
		} else {
			f.More = joined(", ", c.Name, years)
		}
	}
	return f
}
