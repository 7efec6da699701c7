package drivertest

import (
	"errors"
	"regexp"
	"slices"
	"time"

	"roomgate/drivers"
)

// number is a temperature as the platform writes it.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9])?$`)

// checkAll checks that there is one status for each sub-device, or one for
// the device, and each of them.
func (b *bench) checkAll(statuses []drivers.Status) {
	b.Helper()
	want := []string{""}
	if subs := drivers.SubDevices(b.c.Kind.Type); subs != nil {
		want = subs
	}
	var got []string
	for _, s := range statuses {
		if s.Sub == "" && want[0] != "" {
			continue // the device itself beside its sub-devices
		}
		got = append(got, s.Sub)
		b.check(s)
	}
	slices.Sort(got)
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		b.Fatalf("Poll gave statuses of %q, want one of each of %q", got, want)
	}
}

// check checks one observation.
func (b *bench) check(s drivers.Status) {
	b.Helper()
	if slices.Contains(b.c.Unfitted, s.Sub) != errors.Is(s.Err, drivers.ErrUnsupported) {
		b.Errorf("status of %q has error %v, want ErrUnsupported of what is not fitted, and only of that", s.Sub, s.Err)
	}
	if errors.Is(s.Err, drivers.ErrUnsupported) {
		return
	}
	if s.Err != nil {
		b.Errorf("status of %q has error %v", s.Sub, s.Err)
		return
	}
	if s.ObservedAt.IsZero() || s.ObservedAt.After(time.Now()) {
		b.Errorf("status of %q has ObservedAt %s, want a time up to now", s.Sub, s.ObservedAt)
	}
	if s.Source == "" {
		b.Errorf("status of %q has no Source", s.Sub)
	}
	if !valid(b.c.Kind.Type, s.Sub, s.Value) {
		b.Errorf("status of %q has value %q, which is none of the platform's", s.Sub, s.Value)
	}
}

// valid says whether the platform knows the value.
func valid(deviceType, sub, value string) bool {
	d := table()[deviceType][sub]
	if sub == drivers.SubTemperature {
		return number.MatchString(value)
	}
	if d.values == nil {
		return value == ""
	}
	return slices.Contains(d.values, value)
}

// of returns the status of a sub-device.
func of(statuses []drivers.Status, sub string) drivers.Status {
	i := slices.IndexFunc(statuses, func(s drivers.Status) bool { return s.Sub == sub })
	if i < 0 {
		return drivers.Status{}
	}
	return statuses[i]
}
