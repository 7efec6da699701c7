package device

import (
	"fmt"
	"slices"
	"strconv"

	"roomgate/agent/problem"
	"roomgate/drivers"
)

// plausible refuses a value that a device of this type cannot have, so that a
// driver that lies is offline rather than believed.
func plausible(deviceType, sub, value string) error {
	if sub == drivers.SubTemperature {
		t, err := strconv.ParseFloat(value, 64)
		if err != nil || !(t >= -60 && t <= 150) { // NaN is neither
			return fmt.Errorf("%w: the device answered %q, which is no temperature of a room", drivers.ErrNoValue, value)
		}
		return nil
	}
	if values := valuesOf(deviceType, sub); !slices.Contains(values, value) {
		return fmt.Errorf("%w: the device answered %q, which is none of %s", drivers.ErrNoValue, value, problem.List(values))
	}
	return nil
}

func valuesOf(deviceType, sub string) []string {
	switch {
	case deviceType == drivers.TypeLock:
		return []string{drivers.Open, drivers.Closed}
	case sub == drivers.SubOccupancy:
		return []string{drivers.Occupied, drivers.Vacant}
	case deviceType == drivers.TypeDisplay, deviceType == drivers.TypeO3 && sub == "":
		return []string{""}
	}
	return []string{drivers.On, drivers.Off}
}
