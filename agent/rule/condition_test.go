package rule

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

// room is a moment in a meeting space in which somebody sits, warm, without a
// working fan.
func room() *Env {
	e := NewEnv()
	e.Event = Event{Type: "occupancyChanged", Device: "occupancy", SubDevice: "occupancy", Value: "occupied", Previous: "vacant",
		Number: NewEnv().Event.Number, Details: map[string]any{"value": "occupied", "bits": float64(26), "ok": true}}
	e.Space = Space{ID: "a", Name: "Aurora", Status: "occupied"}
	e.Current = Booking{Exists: true, ID: "b", State: "checked_in", Source: "local", ToStart: -10, ToEnd: 20, SinceStart: 10}
	e.Local = LocalAt(time.Date(2026, 11, 23, 7, 30, 0, 0, time.UTC))
	e.Light = Device{Value: "on", Status: "online", Online: true}
	e.Temp = Device{Value: "24.5", Number: 24.5, Status: "normal", Online: true}
	return e
}

func TestConditions(t *testing.T) {
	for source, want := range map[string]bool{
		"": true, "  ": true, "true": true, "false": false,
		`event.value == "occupied" and event.previous == "vacant"`:           true,
		`event.value == "occupied" && !light.online`:                         false,
		`temperature.number > 24 and temperature.number < 25`:                true,
		`24 < temperature.number < 25`:                                       true,
		`fan.value == "on"`:                                                  false,
		`fan.number > 0 or fan.number <= 0`:                                  false, // offline: no number
		`not fan.online`:                                                     true,
		`temperature.status in ["high", "low"]`:                              false,
		`local.weekday == "monday" and local.hour >= 7 and local.hour < 8`:   true,
		`local.time >= "07:00" and local.time < "08:00"`:                     true,
		`current.exists and current.minutes_to_end <= 20`:                    true,
		`next.exists or next.minutes_to_start < 10 or next.minutes_to_end>0`: false,
		`space.name startsWith "Aur" and lower(space.name) contains "ror"`:   true,
		`event.details.bits == 26`:                                           true,
		`event.details.missing == nil`:                                       true,
		`event.details.ok`:                                                   true,
		`event.details["ok"] == true`:                                        true,
		`(light.value == "on" ? temperature.number : 30) > 25`:               false,
		`round(temperature.number) == 25`:                                    true,
		`float(temperature.value) > 24`:                                      true,
		`(event.details.missing ?? 5) > 4`:                                   true,
		`len(event.value) == 8`:                                              true,
		`event.value not in ["vacant"]`:                                      true,
		`-temperature.number < -20 and 7 % 2 == 1`:                           true,
	} {
		c, err := Compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := c.Holds(room()); err != nil || got != want {
			t.Errorf("%s: %v, %v", source, got, err)
		}
		if x := c.Explain(room()); x.Held != want {
			t.Errorf("%s is explained as %v", source, x.Held)
		}
	}
}

// What a condition gets wrong is named, with its place and what was meant.
func TestRefusedConditions(t *testing.T) {
	for source, want := range map[string]string{
		`ligth.value == "on"`:                     "at character 1: ligth is not known, nearest known is light",
		`light.valu == "on"`:                      "light has no valu, nearest known is value",
		`true and ocupancy.value == "x"`:          "at character 10: ocupancy is not known, nearest known is occupancy",
		`occupancy.value == "ocupied"`:            `at character 20: occupancy.value is never "ocupied", nearest known is occupied`,
		`occupancy == "occupied"`:                 "occupancy is no value by itself: want one of its fields value, number",
		`space.status in ["free"]`:                `is never "free"`,
		`light.value`:                             "expected bool, but got string",
		`light.value = "on"`:                      "at character 13: ",
		`light.value == 5`:                        "at character 13: ",
		`temperature.number > "24"`:               "at character 20: ",
		`(`:                                       "unexpected token",
		`1`:                                       "expected bool",
		`x(1)`:                                    "the function x is not part of conditions",
		`rond(1.5) == 2`:                          "nearest known is round",
		`len(1..1000000000) > 1`:                  "the operator .. is not part",
		`any([1], # > 0)`:                         "is not part of conditions",
		`filter([1], true) == 1`:                  "is not part of conditions",
		`repeat("a", 1000000) == ""`:              "is not part of conditions",
		`let a = "x"; a + a == ""`:                "is not part of conditions",
		`event.value matches "a{1000}"`:           "the operator matches is not part",
		`now().Hour() > 1`:                        "only functions can be called",
		`light.value.x == 1`:                      "light.value has no fields",
		`event.details == nil`:                    "event.details is no value by itself",
		`event.details.a.b.c == 1`:                "not that deep",
		`$env.light.value == "on"`:                "$env is not known",
		`true; true`:                              "is not part of conditions",
		`if true { true } else { false }`:         "",
		`light?.Value == "on"`:                    "light has no Value, nearest known is value",
		`{"a": 1}.a == 1`:                         "",
		`event.value[0:2] == "oc"`:                "is not part of conditions",
		`light.online ?: true`:                    "write all three parts",
		`1 < (1 < 2) < 2`:                         "double comparison",
		`"a" in event.value`:                      "in wants a list",
		strings.Repeat("(", 900):                  "",
		strings.Repeat("!", 900) + "true":         "too long",
		strings.Repeat("a", 2000):                 "longer than",
		"true == \x00":                            "not a text",
		strings.Repeat("true and ", 100) + "true": "",
	} {
		_, err := Compile(source)
		if want == "" {
			continue // only that it comes back
		}
		var p *problem.Error
		if !errors.As(err, &p) || p.Field != "condition" || !strings.Contains(p.Message, want) {
			t.Errorf("%.60s: %v, want %s", source, err, want)
		}
	}
}

// bombs are short texts that cost a parser, checker or machine without a bound
// on time more than a building has.
func bombs() []string {
	chain, elvis := "1", "true"
	for len(chain) < LongestCondition-20 {
		chain = "1 < (" + chain + ") < 2"
	}
	for len(elvis) < LongestCondition-20 {
		elvis = "(" + elvis + ") ?: true"
	}
	sum := "event.value"
	for len(sum) < LongestCondition-40 {
		sum += "+event.value"
	}
	list := strings.Repeat("1,", 480)
	return []string{chain, elvis, sum + ` == ""`, "1 in [" + list + "1]", "event.number in [" + strings.Repeat("1,", 100) + "1]",
		strings.Repeat("(", 480) + "true" + strings.Repeat(")", 480), strings.Repeat("-", 900) + "1 > 0",
		"2" + strings.Repeat("**2", 300) + " > 1", strings.Repeat("true ? ", 120) + "true" + strings.Repeat(" : true", 120),
		strings.Repeat("not ", 200) + "true", `"` + strings.Repeat(`\u0041`, 150) + `" == ""`,
		strings.Repeat("true?true:", 90) + "true", strings.Repeat("any([1],", 100) + "true" + strings.Repeat(")", 100)}
}

// slow is far more than any condition may take of a processor.
const slow = 250 * time.Millisecond

// took is how much of a processor f takes: on a busy machine the time that
// passes meanwhile says nothing.
func took(t testing.TB, f func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_THREAD, &before)
	f()
	if err = errors.Join(err, unix.Getrusage(unix.RUSAGE_THREAD, &after)); err != nil {
		t.Fatal(err)
	}
	spent := func(u unix.Rusage) int64 { return u.Utime.Nano() + u.Stime.Nano() }
	return time.Duration(spent(after) - spent(before))
}

func within(t testing.TB, source string) {
	var c *Condition
	var err error
	if took := took(t, func() { c, err = Compile(source) }); took > slow {
		t.Errorf("compiling %.80q takes %v", source, took)
	}
	if err != nil {
		return
	}
	e := room()
	e.Event.Value = strings.Repeat("x", longestText)
	if took := took(t, func() { _, _ = c.Holds(e) }); took > slow/10 {
		t.Errorf("%.80q takes %v", source, took)
	}
	if took := took(t, func() { c.Explain(e) }); took > 4*slow {
		t.Errorf("explaining %.80q takes %v", source, took)
	}
}

func TestNoConditionTakesLong(t *testing.T) {
	for _, source := range bombs() {
		within(t, source)
	}
}

// FuzzCompile looks for a text that ends the process or takes its time.
func FuzzCompile(f *testing.F) {
	for _, s := range append(bombs(), `light.value == "on" and (temperature.number > 24 or not fan.online)`, `1 < space.status < 2`,
		`event.details.a?.b ?? 3 > 2`, `[1,2][0] == 1`, `"\xff" == ""`, `1 % 0 == 0`, `5 / 0 > 1`, `0x7fffffffffffffff + 1 < 0`) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { within(t, source) })
}

// Random conditions of the language hold exactly if their operands say so, and
// are explained as they are judged.
func TestExplanationAgrees(t *testing.T) {
	atoms := []string{`light.value == "on"`, "fan.online", "temperature.number > 24", "temperature.number > 25", "true", "false",
		`event.value != "vacant"`, "current.minutes_to_end < 5", `local.hour in [7, 8]`}
	var draw func(*rapid.T, int) string
	draw = func(t *rapid.T, depth int) string {
		switch k := rapid.IntRange(0, 4).Draw(t, "kind"); {
		case depth == 0 || k == 0:
			return rapid.SampledFrom(atoms).Draw(t, "atom")
		case k == 1:
			return "not (" + draw(t, depth-1) + ")"
		default:
			operator := rapid.SampledFrom([]string{" and ", " or ", " && ", " || "}).Draw(t, "operator")
			return "(" + draw(t, depth-1) + ")" + operator + "(" + draw(t, depth-1) + ")"
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		source := draw(t, 3)
		c, err := Compile(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		held, err := c.Holds(room())
		if err != nil {
			t.Fatal(err)
		}
		x := c.Explain(room())
		if x.Held != held || judge(x) != held {
			t.Fatalf("%s is %v, explained as %v, its operands make %v", source, held, x.Held, judge(x))
		}
	})
}

// judge joins the operands of an explanation.
func judge(x Explanation) bool {
	out := x.Operator == "and"
	switch x.Operator {
	case "not":
		return !judge(x.Operands[0])
	case "":
		return x.Held
	}
	for _, o := range x.Operands {
		if x.Operator == "and" {
			out = judge(o) && out
		} else {
			out = judge(o) || out
		}
	}
	return out
}

func TestExplanationNamesValues(t *testing.T) {
	c, err := Compile(`light.value == "on" and fan.number > 3 and event.details.bits < 20`)
	if err != nil {
		t.Fatal(err)
	}
	x := c.Explain(room())
	if len(x.Operands) != 3 {
		t.Fatalf("it is %+v", x)
	}
	goldentest.Values(t, "it is", goldentest.Pairs{"Held": {x.Held, false}, "Operator": {x.Operator, "and"},
		"Operands[0].Held": {x.Operands[0].Held, true}, "Operands[1].Held": {x.Operands[1].Held, false},
		"Operands[2].Held": {x.Operands[2].Held, false}})
	if v := x.Operands[0].Values["light.value"]; v != "on" {
		t.Errorf("the light is %v", v)
	}
	if v, ok := x.Operands[1].Values["fan.number"]; v != nil || !ok {
		t.Errorf("the fan is %v", v)
	}
	if v := x.Operands[2].Values["event.details.bits"]; v != 26.0 {
		t.Errorf("bits are %v", v)
	}
}

func TestConditionsKnowWhetherTheyNeedTheClock(t *testing.T) {
	for source, want := range map[string]bool{`local.hour > 3`: true, `current.exists`: true, `space.status == "occupied"`: true,
		`space.name == "a"`: false, `light.online`: false, `booking.state == "booked"`: false, `booking.minutes_to_end > 1`: true} {
		if c, err := Compile(source); err != nil || c.NeedsClock != want {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// BenchmarkHolds is one look at a usual condition.
func BenchmarkHolds(b *testing.B) {
	c, err := Compile(`event.value == "vacant" and light.value == "on" and local.hour >= 18`)
	if err != nil {
		b.Fatal(err)
	}
	e := room()
	for b.Loop() {
		if _, err := c.Holds(e); err != nil {
			b.Fatal(err)
		}
	}
}

// TestReads: however a condition writes a name, and also if it only asks what is missing.
func TestReads(t *testing.T) {
	for source, want := range map[string]bool{`light.value == "on"`: true, `not light.online`: true, `light["value"] != "on"`: true, `light?.value in ["on"]`: true,
		`current.exists ? light.number > 3 : false`: true, `upper(light.value) == "ON"`: true, `lock.value == "open"`: false, `event.details.light == 1`: false, ``: false} {
		c, err := Compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
		} else if got := c.Reads("light"); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}
