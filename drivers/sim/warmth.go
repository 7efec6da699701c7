package sim

import (
	"fmt"
	"strconv"
)

// room is how warm the world is until told otherwise, in °C.
const room = 21.5

// warmth is the verb of a thermometer: how warm it is around it.
func warmth(coldest, hottest float64, set func(celsius float64)) []Verb {
	return []Verb{{Name: "<celsius>", Do: func(args []string) (string, error) {
		t, err := strconv.ParseFloat(args[0], 64)
		if err != nil || !(t >= coldest && t <= hottest) { // NaN fails both
			return "", fmt.Errorf("temperature %q is out of range: want a number from %g to %g °C", args[0], coldest, hottest)
		}
		set(t)
		return fmt.Sprintf("%g °C", t), nil
	}}}
}
