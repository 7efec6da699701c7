package o3

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"roomgate/drivers"
)

// order is one message on commands/object/..., as {"data": 100}, and the
// report that confirms it.
type order struct {
	sub    string
	data   any // an int or a string
	match  func(report) bool
	passes bool // that it was reported counts, though it may be over
}

func (o order) payload() ([]byte, error) {
	b, err := json.Marshal(map[string]any{"data": o.data})
	if err != nil {
		return nil, fmt.Errorf("write order to %s: %w", o.sub, err)
	}
	return b, nil
}

// set orders a number and expects the same number back.
func set(sub string, n int) order {
	return order{sub: sub, data: n, match: func(r report) bool { return !r.isText && math.Abs(r.number-float64(n)) < 0.5 }}
}

// play orders a sound by its name, so many times, and expects it back.
func play(name string, times int) []order {
	repeat := set(soundRepeat, times)
	repeat.passes = true
	return []order{repeat, {sub: soundFile, data: name, match: func(r report) bool { return r.isText && r.text == name }}}
}

// hush orders silence. However the hub writes that down is good.
func hush(name string) order {
	return order{sub: soundFile, data: name, match: func(r report) bool {
		idle, err := r.idle()
		return idle && err == nil
	}}
}

// beeps are the patterns of doc.go. A pattern that is played 0 times is played
// for as long as was asked for.
var beeps = []struct {
	pattern, sound string
	times          int
}{
	{"single", "Ding", 1},
	{"double", "Ding", 2},
	{"triple", "Ding", 3},
	{"alarm", "Alarm", 0},
}

func beepPatterns() []string {
	names := make([]string, len(beeps))
	for i, b := range beeps {
		names[i] = b.pattern
	}
	return names
}

// buzzerOrders returns what carries a command to the buzzer out.
func (d *Device) buzzerOrders(c drivers.Command) []order {
	switch c.Action {
	case drivers.ActOn:
		return play(soundName("Alarm"), repeatMax)
	case drivers.ActOff:
		return []order{hush(d.opts.Idle)}
	case drivers.ActBeep:
		return beepOrders(c.Args)
	}
	return nil
}

func beepOrders(args drivers.Args) []order {
	for _, b := range beeps {
		if b.pattern != args.Text(argPattern) {
			continue
		}
		if b.times == 0 {
			b.times = max(1, int(math.Ceil(args.Number(argSeconds))))
		}
		todo := play(soundName(b.sound), b.times)
		todo[1].passes = true // it ends by itself
		return todo
	}
	return nil
}

// ringOrders returns what carries a command to the ring out, in the order in
// which nothing wrong is seen on the way.
func (d *Device) ringOrders(c drivers.Command) []order {
	switch c.Action {
	case drivers.ActOn:
		return d.showColor(d.color)
	case drivers.ActOff:
		return []order{set(ringPattern, patternOff), set(ringOverride, 0)}
	case drivers.ActColor:
		rgb, err := parseColor(c.Args.Text(drivers.ValueName))
		if err != nil {
			return nil
		}
		return d.showColor(rgb)
	case drivers.ActBrightness:
		return []order{set(ringBrightness, int(math.Round(c.Args.Number(drivers.ValueName))))}
	case drivers.ActPattern:
		return []order{set(ringPattern, int(c.Args.Number(drivers.ValueName))), set(ringOverride, 0)}
	}
	return nil
}

// showColor sets the color before it is shown, and brings a ring that was
// dimmed to nothing back to the hub's default.
func (d *Device) showColor(c color) []order {
	todo := []order{set(ringRed, c[0]), set(ringGreen, c[1]), set(ringBlue, c[2])}
	if d.said.dark() {
		todo = append(todo, set(ringBrightness, defaultBrightness))
	}
	return append(todo, set(ringOverride, 1))
}

const defaultBrightness = 50

// color is red, green and blue, each 0 to 100 as the hub has them.
type color [3]int

var white = color{levelMax, levelMax, levelMax}

// parseColor reads "#rrggbb".
func parseColor(s string) (color, error) {
	n, err := strconv.ParseUint(s[min(1, len(s)):], 16, 24)
	if err != nil || len(s) != 7 || s[0] != '#' {
		return color{}, &drivers.FieldError{Field: drivers.ValueName, Problem: `is not a color: want one like "#ff8800"`}
	}
	scale := func(shift uint) int { return int(math.Round(float64(n>>shift&0xff) / 255 * levelMax)) }
	return color{scale(16), scale(8), scale(0)}, nil
}

// String is the color as "#rrggbb".
func (c color) String() string {
	scale := func(level int) int { return int(math.Round(float64(level) * 255 / levelMax)) }
	return fmt.Sprintf("#%02x%02x%02x", scale(c[0]), scale(c[1]), scale(c[2]))
}
