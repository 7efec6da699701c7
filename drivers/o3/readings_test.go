package o3

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/drivers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// told is a hub with these reports, connected.
func told(reports map[string]string) *Device {
	o := *defaults()
	d := &Device{opts: o, color: white, said: newReadings(o.Silence, o.Temperature, o.Occupancy,
		ringPattern, ringRed, ringGreen, ringBlue, ringOverride, ringBrightness, soundFile)}
	d.said.connected()
	for sub, payload := range reports {
		d.said.report(sub, []byte(payload))
	}
	return d
}

func TestRing(t *testing.T) {
	const one, zero = `{"Present_Value": 1}`, `{"Present_Value": 0}`
	for name, c := range map[string]struct {
		reports map[string]string
		want    string // empty: unknown
	}{
		"nothing":             {nil, ""},
		"only the pattern":    {map[string]string{ringPattern: one}, ""},
		"pattern off":         {map[string]string{ringOverride: zero, ringPattern: one}, "off"},
		"pattern":             {map[string]string{ringOverride: zero, ringPattern: `{"Present_Value": "7"}`}, "on"},
		"no such pattern":     {map[string]string{ringOverride: zero, ringPattern: `{"Present_Value": 14}`}, ""},
		"dark pattern":        {map[string]string{ringOverride: zero, ringPattern: `{"Present_Value": 7}`, ringBrightness: zero}, "off"},
		"color":               {map[string]string{ringOverride: one, ringRed: one, ringGreen: zero, ringBlue: zero}, "on"},
		"black":               {map[string]string{ringOverride: one, ringRed: zero, ringGreen: zero, ringBlue: zero}, "off"},
		"part of a color":     {map[string]string{ringOverride: one, ringRed: one}, ""},
		"color of 101":        {map[string]string{ringOverride: one, ringRed: `{"Present_Value": 101}`, ringGreen: zero, ringBlue: zero}, ""},
		"brightness is null":  {map[string]string{ringOverride: zero, ringPattern: `{"Present_Value": 7}`, ringBrightness: `{"Present_Value": null}`}, ""},
		"brightness unknown":  {map[string]string{ringOverride: zero, ringPattern: `{"Present_Value": 7}`, ringBrightness: `{"Present_Value": "unknown"}`}, ""},
		"a color that is not": {map[string]string{ringOverride: one, ringRed: `nonsense`, ringGreen: zero, ringBlue: zero}, ""},
	} {
		d := told(c.reports)
		d.said.mu.Lock()
		s := d.sub(drivers.SubRing)
		d.said.mu.Unlock()
		if s.Value != c.want || (s.Err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, s.Value, s.Err, c.want)
		}
	}
}

// TestOldAndUnreadable: a value is unknown once it is stale, and from an
// unreadable report to the next good one.
func TestOldAndUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := told(nil)
		temperature := func(want string) {
			t.Helper()
			d.said.mu.Lock()
			defer d.said.mu.Unlock()
			if s := d.sub(drivers.SubTemperature); s.Value != want || (s.Err == nil) != (want != "") {
				t.Errorf("got %q, %v, want %q", s.Value, s.Err, want)
			}
		}
		good := []byte(`{"Present_Value": 21.5, "Units": "°C"}`)
		temperature("")
		d.said.report(occupantTemperature, good)
		temperature("21.5")
		time.Sleep(d.opts.Stale.Temperature - time.Second)
		temperature("21.5")
		time.Sleep(time.Second)
		temperature("")
		d.said.report(occupantTemperature, good)
		temperature("21.5")
		d.said.report(occupantTemperature, []byte(`{"Present_Value": 99, "Units": "°C"}`))
		temperature("")
		d.said.report(occupantTemperature, []byte(`{`))
		temperature("")
		d.said.report(occupantTemperature, good)
		temperature("21.5")
		d.said.disconnected(errors.New("gone"))
		d.said.connected()
		temperature("")
	})
}

// TestRhythm: a hub that says again and again how its speaker is, and then does
// not, is silent about it; one that only speaks of changes is not.
func TestRhythm(t *testing.T) {
	const idle = `{"Present_Value": "(0) Idle (Off).wav"}`
	for name, c := range map[string]struct {
		reports int
		pause   time.Duration
		ordered bool
		stale   time.Duration // as the options have it
		known   time.Duration // after the last report; 0: for ever
	}{
		"once":                {1, 0, false, 0, 0},
		"twice":               {2, 2 * time.Second, false, 0, 0},
		"every two seconds":   {4, 2 * time.Second, false, 0, 5 * time.Minute},
		"every hour":          {4, time.Hour, false, 0, 3 * time.Hour},
		"ordered to":          {9, 2 * time.Second, true, 0, 0},
		"as the options have": {9, time.Hour, false, time.Minute, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := told(nil)
			d.opts.Stale.Buzzer = c.stale
			for n := range c.reports {
				if n > 0 {
					time.Sleep(c.pause)
				}
				e := expectations([]order{{sub: soundFile, match: func(report) bool { return true }}})
				if c.ordered {
					d.said.heard = time.Now() // so that it takes orders
					if err := d.said.expect(e); err != nil {
						t.Fatal(err)
					}
				}
				d.said.report(soundFile, []byte(idle))
				d.said.forget(e)
			}
			isKnown := func() bool {
				d.said.mu.Lock()
				defer d.said.mu.Unlock()
				s := d.sub(drivers.SubBuzzer)
				if s.Err != nil && !errors.Is(s.Err, drivers.ErrNoValue) {
					t.Errorf("%s: %v", name, s.Err)
				}
				return s.Err == nil
			}
			for _, step := range []struct {
				wait time.Duration
				want bool
			}{{c.known - time.Second, true}, {time.Second, c.known == 0}, {24 * time.Hour, c.known == 0}} {
				time.Sleep(step.wait)
				if got := isKnown(); got != step.want {
					t.Errorf("%s: known %t %s after the last report", name, got, step.wait)
				}
			}
			d.said.report(soundFile, []byte(idle))
			if !isKnown() {
				t.Errorf("%s: a new report is not taken", name)
			}
		})
	}
}

// TestOnlyKnownTopicsAreKept: a hub that invents topics fills nothing.
func TestOnlyKnownTopicsAreKept(t *testing.T) {
	r := newReadings(time.Minute, motion)
	for _, sub := range []string{"a", "b/c", "", motion, "Motion"} {
		r.report(sub, []byte(`{"Present_Value": 1}`))
	}
	if len(r.values) != 1 {
		t.Errorf("kept %v", r.values)
	}
}

// TestReceive: a retained report may be from last year, and other topics are
// none of ours.
func TestReceive(t *testing.T) {
	const payload = `{"Present_Value": 1}`
	for _, c := range []struct {
		prefix, topic string
		retained      bool
		want          bool
	}{
		{"", "events/object/motion", false, true},
		{"", "events/object/motion", true, false},
		{"", "Events/object/motion", false, false},
		{"", "site/a/events/object/motion", false, false},
		{"site/a", "site/a/events/object/motion", false, true},
		{"site/a", "site/b/events/object/motion", false, false},
		{"site/a", "events/object/motion", false, false},
	} {
		o := *defaults()
		o.Prefix = c.prefix
		l := newLink(o, nil, newReadings(time.Minute, motion))
		l.receive(c.topic, []byte(payload), c.retained)
		if _, got := l.said.values[motion]; got != c.want || l.said.spoken != c.want {
			t.Errorf("prefix %q, %s, retained %t: taken: %t", c.prefix, c.topic, c.retained, got)
		}
	}
}
