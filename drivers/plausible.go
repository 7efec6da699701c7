package drivers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Plausible refuses a value that a device of this type cannot have, with ErrNoValue, so that a
// driver that lies is offline rather than believed. A temperature is between -60 and 150 °C.
func Plausible(deviceType, sub, value string) error {
	if sub == SubTemperature {
		t, err := strconv.ParseFloat(value, 64)
		if err != nil || !(t >= -60 && t <= 150) { // NaN is neither
			return fmt.Errorf("%w: the device answered %q, which is no temperature of a room", ErrNoValue, value)
		}
		return nil
	}
	if values := valuesOf(deviceType, sub); !slices.Contains(values, value) {
		return fmt.Errorf("%w: the device answered %q, which is none of %s", ErrNoValue, value, strings.Join(values, ", "))
	}
	return nil
}

func valuesOf(deviceType, sub string) []string {
	switch {
	case deviceType == TypeLock:
		return []string{Open, Closed}
	case sub == SubOccupancy:
		return []string{Occupied, Vacant}
	case deviceType == TypeDisplay, deviceType == TypeO3 && sub == "":
		return []string{""}
	}
	return []string{On, Off}
}

// LeadsTo is the value that a command leads to, where that is certain: a color
// may be black, and a beep ends by itself.
func LeadsTo(deviceType string, c Command) (value string, certain bool) {
	if slices.Contains(valuesOf(deviceType, c.Sub), "") {
		return "", true
	}
	switch c.Action {
	case ActOpen:
		return Open, true
	case ActClose:
		return Closed, true
	case ActOn, ActOff:
		return OnOff(c.Action == ActOn), true
	case ActIntensity:
		return OnOff(c.Args.Number(ValueName) > 0), true
	}
	return "", false
}

// Unproven is why an observation does not prove a command, with ErrNotConfirmed: it has no value, or one that the
// command does not lead to. Nil: nothing speaks against it.
func Unproven(deviceType string, c Command, s Status) error {
	want, certain := LeadsTo(deviceType, c)
	switch {
	case s.Err != nil:
		return fmt.Errorf("%w: %w", ErrNotConfirmed, s.Err)
	case certain && s.Value != want:
		return fmt.Errorf("%w: it is reported as %s", ErrNotConfirmed, s.Value)
	}
	return nil
}
