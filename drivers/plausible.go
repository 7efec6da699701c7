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
