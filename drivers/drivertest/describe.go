package drivertest

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

const pwmFrequency = physic.KiloHertz

// kind is a device or a sub-device as the platform has it.
type kind struct {
	values  []string
	actions []string
}

// table is every device type and its sub-devices.
func table() map[string]map[string]kind {
	onOff := []string{drivers.On, drivers.Off}
	dimmed := kind{onOff, []string{"on", "off", "intensity"}}
	return map[string]map[string]kind{
		drivers.TypeLock:    {"": {[]string{drivers.Open, drivers.Closed}, []string{"open", "close"}}},
		drivers.TypeCamera:  {"": {onOff, []string{"on", "off", "snapshot"}}},
		drivers.TypeLight:   {"": dimmed},
		drivers.TypeFan:     {"": dimmed},
		drivers.TypeDisplay: {"": {nil, []string{"on", "off", "brightness", "message", "refresh", "screenshot"}}},
		drivers.TypeO3: {
			"":                     {},
			drivers.SubTemperature: {},
			drivers.SubOccupancy:   {[]string{drivers.Occupied, drivers.Vacant}, nil},
			drivers.SubBuzzer:      {onOff, []string{"on", "off", "beep"}},
			drivers.SubRing:        {onOff, []string{"on", "off", "color", "brightness", "pattern"}},
		},
	}
}

// describe: the description is complete, constant, and touches no hardware.
func describe(b *bench) {
	d := b.open().Describe()
	if d.Type != b.c.Kind.Type || d.Driver != b.c.Kind.Name {
		b.Errorf("Describe says %s by %s, the kind %s by %s", d.Type, d.Driver, b.c.Kind.Type, b.c.Kind.Name)
	}
	if d.Summary == "" || b.c.Kind.Summary == "" {
		b.Error("the summary is empty")
	}
	want := table()[d.Type]
	b.describeOne(want[""], d.Values, d.Actions)
	for _, s := range d.Subs {
		of := want[s.Name]
		if slices.Contains(b.c.Unfitted, s.Name) {
			of.actions = nil
		}
		b.describeOne(of, s.Values, s.Actions)
		if s.Summary == "" {
			b.Errorf("sub-device %s has no summary", s.Name)
		}
	}
	if len(d.Subs) != len(drivers.SubDevices(d.Type)) {
		b.Errorf("there are %d sub-devices, want %q", len(d.Subs), drivers.SubDevices(d.Type))
	}
	if _, err := json.Marshal(d); err != nil {
		b.Errorf("the description cannot be written as JSON: %v", err)
	}
	writes := b.writes()
	b.control("stick")
	before := time.Now()
	if diff := cmp.Diff(d, b.driver.Describe()); diff != "" {
		b.Errorf("the description changed:\n%s", diff)
	}
	if time.Since(before) > b.slack() || b.writes() != writes {
		b.Error("Describe touched the hardware")
	}
	b.control("unstick")
}

func (b *bench) describeOne(want kind, values []string, actions []drivers.Action) {
	if !sameSet(values, want.values) {
		b.Errorf("values are %q, want %q", values, want.values)
	}
	var names []string
	for _, a := range actions {
		names = append(names, a.Name)
		if a.Summary == "" {
			b.Errorf("action %s has no summary", a.Name)
		}
		for _, p := range a.Params {
			b.describeParam(a, p)
		}
	}
	if !sameSet(names, want.actions) {
		b.Errorf("actions are %q, want %q", names, want.actions)
	}
}

func (b *bench) describeParam(a drivers.Action, p drivers.Param) {
	ok := p.Name != ""
	switch p.Kind {
	case drivers.KindNumber, drivers.KindInteger:
		ok = ok && p.Min < p.Max
	case drivers.KindText:
		ok = ok && p.Min <= p.Max && p.Max > 0
	case drivers.KindChoice:
		ok = ok && len(p.Choices) > 0
	case drivers.KindColor:
	default:
		ok = false
	}
	if !ok {
		b.Errorf("action %s has the impossible parameter %+v", a.Name, p)
	}
	if p.Default == nil {
		return
	}
	raw, _ := json.Marshal(map[string]any{p.Name: p.Default})
	if p.Name == drivers.ValueName && len(a.Params) == 1 {
		raw, _ = json.Marshal(p.Default)
	}
	alone := drivers.Action{Name: a.Name, Params: []drivers.Param{p}}
	args, err := alone.Parse(raw)
	if err != nil || args[p.Name] != p.Default {
		b.Errorf("the default %v of %s %s is no value that it takes: %v", p.Default, a.Name, p.Name, err)
	}
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
