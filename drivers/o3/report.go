package o3

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"roomgate/drivers"
)

// maxPayload bounds a report; the hub's own are about 100 bytes.
const maxPayload = 4 << 10

// maxText bounds a value that is text, such as a sound's name.
const maxText = 128

// errReport is believed at once: the hub has said something newer than what we
// remember.
var errReport = fmt.Errorf("%w: the hub sent a report that cannot be read", drivers.ErrNoValue)

// report is one message on events/object/..., as
//
//	{"Present_Value": 24.51, "Units": "°C", "updated": "31-08-2021 23:09:26.21", "status": 0}
//
// `updated` (day first, no zone) and `status` (its values are not published)
// are not used.
type report struct {
	number float64
	isText bool // text that is no number
	text   string
	units  string
}

// parseReport reads a report. Numbers may come as text. The error wraps
// errReport and never repeats more than the length of the payload.
func parseReport(payload []byte) (report, error) {
	if len(payload) > maxPayload {
		return report{}, fmt.Errorf("%w: %d bytes", errReport, len(payload))
	}
	var raw struct {
		Value json.RawMessage `json:"Present_Value"`
		Units string          `json:"Units"`
	}
	if err := json.Unmarshal(payload, &raw); err != nil {
		return report{}, fmt.Errorf("%w: not the JSON of a report", errReport)
	}
	r := report{units: raw.Units}
	if n, ok := number(raw.Value); ok {
		r.number = n
		return r, nil
	}
	if json.Unmarshal(raw.Value, &r.text) != nil || string(raw.Value) == "null" {
		return report{}, fmt.Errorf("%w: Present_Value is null, or neither number nor text", errReport)
	}
	if len(r.text) > maxText {
		return report{}, fmt.Errorf("%w: Present_Value has %d bytes", errReport, len(r.text))
	}
	if n, ok := number([]byte(strings.TrimSpace(r.text))); ok {
		return report{number: n, units: r.units}, nil
	}
	r.isText = true
	return r, nil
}

// number reads a JSON number: no "0x10", "inf" or "+1", which strconv alone
// would take.
func number(b []byte) (float64, bool) {
	var n json.Number
	if len(b) == 0 || b[0] == '"' || json.Unmarshal(b, &n) != nil || n == "" {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// within returns the number of a report if it is in the range.
func (r report) within(low, high float64) (float64, error) {
	if r.isText || !(r.number >= low && r.number <= high) {
		return 0, fmt.Errorf("%w: want a number from %g to %g", errReport, low, high)
	}
	return r.number, nil
}

// whole is within, for values that have no fraction.
func (r report) whole(low, high float64) (int, error) {
	n, err := r.within(low, high)
	if err != nil || n != math.Trunc(n) {
		return 0, fmt.Errorf("%w: want a whole number from %g to %g", errReport, low, high)
	}
	return int(n), nil
}

// celsius returns a temperature as text with at most one decimal. Reports
// without units are taken as °C.
func (r report) celsius() (string, error) {
	var c float64
	var err error
	switch unit(r.units) {
	case "", "c", "degc", "celsius", "degreescelsius":
		c, err = r.within(0, 59)
	case "f", "degf", "fahrenheit", "degreesfahrenheit":
		c, err = r.within(32, 138)
		c = (c - 32) / 1.8
	default:
		err = fmt.Errorf("%w: temperature in unknown units", errReport)
	}
	if err != nil {
		return "", err
	}
	return strconv.FormatFloat(math.Round(c*10)/10+0, 'f', -1, 64), nil // +0: no "-0"
}

// unit keeps the letters of a unit: "°C", "Â°C" (read in the wrong character
// set), "deg C" and "degrees-celsius" have all been written by such hubs.
func unit(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// soundsMax is the highest number of a sound: 25 of the maker's, 25 loaded.
const soundsMax = 50

// sound matches the name of a sound file, with its number or without.
var sound = regexp.MustCompile(`(?i)^\(\d{1,2}\)|\.wav$`)

// idle says whether a report of soundfile means silence. It fails if that is
// not the report of a sound.
func (r report) idle() (bool, error) {
	if !r.isText {
		n, err := r.whole(0, soundsMax)
		return n == 0, err
	}
	t := strings.TrimSpace(r.text)
	if t == "" || strings.HasPrefix(t, "(0)") || strings.HasPrefix(strings.ToLower(t), "idle") {
		return true, nil
	}
	if !sound.MatchString(t) {
		return false, fmt.Errorf("%w: want the name of a sound", errReport)
	}
	return false, nil
}
