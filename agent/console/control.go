package console

import (
	"fmt"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

// Control is the dialog that commands a device.
type Control struct {
	SpaceID, Space, Type, Name string
	Summary                    string
	Parts                      []ControlPart
	Picture                    *Picture
}

// ControlPart is the device, or a sub-device, with what it takes.
type ControlPart struct {
	Sub     string
	Summary string
	Now     Proof
	Actions []ControlAction
}

// ControlAction is a command with its fields.
type ControlAction struct {
	Name    string
	Body    map[string]any // of a command without fields
	Fields  []Field
	Sure    string // what is asked before; empty: nothing
	Allowed bool
	Why     string // it is not
}

// Field is one value of a command.
type Field struct {
	ID, Name, Label, Kind string
	Choices               []string
	Min, Max              float64
	Default               any
}

func viewControl(l *Look) (any, error) {
	if l.Role() < Operator {
		return nil, problem.New(problem.Forbidden, "panel", "is for those who may command devices")
	}
	s, err := l.space()
	if err != nil {
		return nil, err
	}
	d, err := s.Device(l.Query.Get("device"))
	if err != nil {
		return nil, err
	}
	about := d.Describe()
	v := Control{SpaceID: s.ID, Space: s.Name, Type: d.Type, Name: typeWords[d.Type], Summary: about.Summary, Picture: pictureOf(d, s.Room.Terms().Zone)}
	if len(about.Actions) > 0 {
		v.Parts = append(v.Parts, l.controlPart(d, "", "", about.Actions))
	}
	for _, sub := range about.Subs {
		if len(sub.Actions) > 0 {
			v.Parts = append(v.Parts, l.controlPart(d, sub.Name, sub.Summary, sub.Actions))
		}
	}
	return v, nil
}

func (l *Look) controlPart(d *device.Device, sub, summary string, actions []drivers.Action) ControlPart {
	reading, _ := d.Reading(sub)
	p := ControlPart{Sub: sub, Summary: summary, Now: proofOf(reading, time.Now())}
	for _, a := range actions {
		c := ControlAction{Name: a.Name, Body: map[string]any{"device_type": d.Type, "action": a.Name}, Allowed: true}
		if sub != "" {
			c.Body["sub_device"] = sub
		}
		if d.Type == drivers.TypeLock && a.Name == drivers.ActOpen {
			c.Sure = "Open the door now?"
		}
		for _, param := range a.Params {
			c.Fields = append(c.Fields, fieldOf(param, sub, a.Name))
		}
		if err := l.o.Agent.Site.Permits(l.Who, d.SpaceID, d.Type, sub, a.Name); err != nil {
			c.Allowed, c.Why = false, err.Error()
		}
		p.Actions = append(p.Actions, c)
	}
	return p
}

func fieldOf(p drivers.Param, sub, action string) Field {
	f := Field{ID: joined("-", "f", sub, action, p.Name), Name: "value." + p.Name, Label: p.Name, Kind: string(p.Kind), Choices: p.Choices, Min: p.Min, Max: p.Max, Default: p.Default}
	if p.Name == drivers.ValueName {
		f.Name, f.Label = "value", action
	}
	if p.Kind == drivers.KindNumber || p.Kind == drivers.KindInteger {
		f.Label += fmt.Sprintf(", %g to %g %s", p.Min, p.Max, p.Unit)
	}
	return f
}
