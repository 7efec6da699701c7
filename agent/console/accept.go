package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"time"

	"roomgate/agent/acceptance"
	"roomgate/agent/access"
	"roomgate/agent/device"
	"roomgate/agent/errand"
	"roomgate/agent/problem"
	"roomgate/agent/site"
	"roomgate/drivers"
)

// accept is the page for somebody who stands in a room, with a phone: find each device,
// and prove the room.
func accept() Section {
	return Section{Name: "accept", Title: "Identify and accept", Hidden: true, Least: System, Parts: []string{"ask", "find", "walk"}, View: viewAccept}
}

// walkLook is how often the page looks at a walk that is under way.
const walkLook = 300 * time.Millisecond

// Accept is what the page shows.
type Accept struct {
	ID, Name string
	Devices  []Link // that can be found, by type
	Walk     errand.Walk
}

// Heading is the name of the space with what is done to it.
func (v Accept) Heading() string { return v.Name + ": identify and accept" }

func viewAccept(l *Look) (any, time.Time, error) {
	s, err := l.space()
	if err != nil {
		return nil, time.Time{}, err
	}
	v := Accept{ID: s.ID, Name: s.Name, Walk: l.o.Errands.WalkOf(s.ID)}
	v.Walk.Wrong = sentence(v.Walk.Wrong)
	for _, d := range s.Devices {
		if d.Live().Enabled {
			v.Devices = append(v.Devices, Link{d.Type, typeWords[d.Type]})
		}
	}
	return v, time.Now().Add(walkLook), nil
}

// Room is a meeting space that somebody sees, as an acceptance reaches it.
func (c *Console) Room(who access.Principal, id string) (acceptance.Room, error) {
	l := &Look{Console: c, Who: who, Query: url.Values{"id": {id}}}
	s, err := l.space()
	if err != nil {
		return acceptance.Room{}, err
	}
	a := l.o.Agent
	infos := a.Site.SpaceInfos()
	i := slices.IndexFunc(infos, func(x site.SpaceInfo) bool { return x.ID == s.ID })
	if i < 0 {
		return acceptance.Room{}, problem.New(problem.NotFound, "id", "is gone: load the page again")
	}
	by := l.Who.ID
	return acceptance.Room{SpaceInfo: infos[i],
		Command: func(ctx context.Context, o acceptance.Command) (device.Receipt, error) {
			value, err := json.Marshal(o.Value)
			if err != nil || o.Value == nil {
				value = nil
			}
			return a.Commands.Do(ctx, device.Command{Space: s.ID, DeviceType: o.DeviceType, SubDevice: o.SubDevice, Action: o.Action, Value: value, Via: device.ViaHTTP, By: by})
		},
		Read: func(_ context.Context, deviceType string) ([]device.Reading, error) {
			all, err := a.Site.StatusAll(s.ID)
			return slices.DeleteFunc(all, func(r device.Reading) bool { return r.DeviceType != deviceType }), err
		},
		Picture: func(_ context.Context, deviceType string) (drivers.Picture, error) {
			d, err := a.Site.Device(s.ID, deviceType)
			if err != nil {
				return drivers.Picture{}, err
			}
			p, _, ok := d.Picture()
			if !ok {
				return drivers.Picture{}, errors.New("there is no picture")
			}
			return *p, nil
		}}, nil
}
