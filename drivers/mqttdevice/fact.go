package mqttdevice

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"roomgate/drivers"
)

// fact is one thing that a message says about a device. What a device does and
// what is ordered of it are told in the same facts.
type fact struct {
	name   string
	text   string
	number float64
	err    error // the device has spoken, and this is not known
}

// The facts.
const (
	power       = "power"       // text: on, off
	level       = "level"       // number: 0 to 100 %
	bolt        = "bolt"        // text: open, closed
	temperature = "temperature" // number: °C
	occupancy   = "occupancy"   // text: occupied, vacant

	// Beside the value, as details.
	humidity    = "humidity"     // number: %
	battery     = "battery"      // number: %
	linkQuality = "link_quality" // number, in the dialect's measure

	// Presence, and what it rests on.
	deviceIs = "device" // text: online, offline
	bridgeIs = "bridge" // text: online, offline; it speaks for the device
	// aliveIs tells that the device has answered and has nothing newer to say
	// than its last message on each topic, retained or not.
	aliveIs = "alive"
	// wholeIs tells that the message has everything that there is: what it
	// leaves out is gone. roundIs tells that it should have, but parts of it are
	// sent as well: what it leaves out is asked for.
	wholeIs = "whole"
	roundIs = "round"
)

const (
	online  = "online"
	offline = "offline"
)

// What a device says of a value that it does not have. It is believed at once,
// but for a bolt that moves, which passes.
var (
	errPayload = fmt.Errorf("%w: the device sent a message that cannot be read", drivers.ErrNoValue)
	errJammed  = fmt.Errorf("%w: the lock is jammed", drivers.ErrNoValue)
	errLeftOut = fmt.Errorf("%w: the device leaves it out of its full report", drivers.ErrNoValue)
	errMoving  = errors.New("the bolt is moving")
)

// nothing are the words, in lower case, with which devices and those who speak
// for them say that there is no value: null in JSON, nan and None of ESPHome,
// unavailable and unknown of Home Assistant.
var nothing = []string{"", "null", "nan", "none", "unavailable", "unknown"}

// noValue is why a value is none. It repeats what was sent only if that is one
// of the words for nothing.
func noValue(said string) error {
	word := strings.ToLower(strings.Trim(said, `"`))
	if slices.Contains(nothing, word) {
		return fmt.Errorf("%w: the device says %q", drivers.ErrNoValue, word)
	}
	return errPayload
}

// sure returns the fact of a message that says nothing else. One that could not
// be read says that there is no value.
func sure(said string, ok bool, f fact) []fact {
	if !ok {
		f = fact{name: f.name, err: noValue(said)}
	}
	return []fact{f}
}

// maxPayload bounds a message; the longest that is used, the status of a
// Shelly with everything in it, has about 4 kB.
const maxPayload = 16 << 10

// same says whether a report fulfils what was ordered. Devices count in steps
// of their own, so a level may be off by one.
func (f fact) same(want fact) bool {
	return f.err == nil && f.name == want.name && f.text == want.text && math.Abs(f.number-want.number) <= 1
}

// object is the fields of a JSON object.
type object map[string]json.RawMessage

// parseObject reads a JSON object. The error never repeats what was sent.
func parseObject(payload []byte) (object, error) {
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("%w: %d bytes", errPayload, len(payload))
	}
	var o object
	if err := json.Unmarshal(payload, &o); err != nil || o == nil {
		return nil, fmt.Errorf("%w: not a JSON object", errPayload)
	}
	return o, nil
}

// inner is the object in a field, empty if there is none.
func (o object) inner(name string) object {
	in, err := parseObject(o[name])
	if err != nil {
		return object{}
	}
	return in
}

// text is the text in a field, empty if there is none.
func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

// number is the number in a field; numeric text is one too.
func (o object) number(name string) (float64, bool) {
	if f, ok := parseNumber(string(o[name])); ok {
		return f, true
	}
	return parseNumber(o.text(name))
}

// parseNumber reads a finite decimal number: no "0x10", "inf" or "1_0", which
// strconv alone would take.
func parseNumber(s string) (float64, bool) {
	if s == "" || len(s) > 32 || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// says returns the fact of a field: none if the field is missing, and if it
// could not be read, that there is no value.
func (o object) says(field string, ok bool, f fact) []fact {
	said, there := o[field]
	if !there {
		return nil
	}
	return sure(string(said), ok, f)
}

// is reads a field that is one of two texts.
func (o object) is(name, yes, no string) (is, ok bool) {
	return either(o.text(name), yes, no)
}

// either reads one of two texts, in whatever case.
func either(s, yes, no string) (is, ok bool) {
	is = strings.EqualFold(s, yes)
	return is, is || strings.EqualFold(s, no)
}

// truth reads a field that is true or false.
func (o object) truth(name string) (is, ok bool) {
	switch string(o[name]) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// details are the facts of fields that hold a number and go beside the value.
func (o object) details(fields map[string]string) (all []fact) {
	for field, name := range fields {
		n, ok := o.number(field)
		all = append(all, o.says(field, ok, fact{name: name, number: n})...)
	}
	return all
}

func powerIs(on bool) fact { return fact{name: power, text: drivers.OnOff(on)} }

func somebody(there bool) fact {
	if there {
		return fact{name: occupancy, text: drivers.Occupied}
	}
	return fact{name: occupancy, text: drivers.Vacant}
}

func unlocked(is bool) fact {
	if is {
		return fact{name: bolt, text: drivers.Open}
	}
	return fact{name: bolt, text: drivers.Closed}
}

// presence is the fact of a last will and its opposite.
func presence(name, said, yes, no string) ([]fact, error) {
	is, ok := either(said, yes, no)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: want %s or %s", errPayload, yes, no)
	case is:
		return []fact{{name: name, text: online}}, nil
	}
	return []fact{{name: name, text: offline}}, nil
}

// The limits of what a room's thermometer can have measured, in °C.
const (
	coldest = -40
	hottest = 85
)

// warmth is the fact of a temperature in °C, or in °F.
func warmth(degrees float64, fahrenheit bool) fact {
	if fahrenheit {
		degrees = (degrees - 32) / 1.8
	}
	if !(degrees >= coldest && degrees <= hottest) {
		return fact{name: temperature, err: fmt.Errorf("%w: want a temperature from %d to %d °C", errPayload, coldest, hottest)}
	}
	return fact{name: temperature, number: degrees}
}

// percent is the fact of a level that the device counts from 0 to top.
func percent(n, top float64) fact {
	if !(n >= 0 && n <= top) {
		return fact{name: level, err: fmt.Errorf("%w: want a level from 0 to %g", errPayload, top)}
	}
	return fact{name: level, number: math.Round(n * 100 / top)}
}

// steps is the device's own step for a level: none is 0, and no level above
// 0 % is.
func steps(percent float64, top int) int {
	n := int(math.Round(percent * float64(top) / 100))
	if percent > 0 {
		n = max(n, 1)
	}
	return min(n, top)
}
