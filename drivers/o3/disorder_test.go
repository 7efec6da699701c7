package o3

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"roomgate/drivers"
)

// TestReportsOutOfOrder: a report that was overtaken says what was before the order. While the last word
// contradicts it, nothing is proved; a sound may have ended.
func TestReportsOutOfOrder(t *testing.T) {
	on := drivers.Command{Sub: drivers.SubRing, Action: drivers.ActOn}
	beep := drivers.Command{Sub: drivers.SubBuzzer, Action: drivers.ActBeep, Args: drivers.Args{argPattern: "single"}}
	alarm := drivers.Command{Sub: drivers.SubBuzzer, Action: drivers.ActOn}
	lit := []string{ringRed + " 100", ringGreen + " 100", ringBlue + " 100", ringOverride + " 1"}
	for name, c := range map[string]struct {
		order  drivers.Command
		said   []string // after the order
		proved bool
	}{
		"in order":                  {on, lit, true},
		"one is missing":            {on, lit[:3], false},
		"a color that was before":   {on, append(lit[:4:4], ringRed+" 0"), false},
		"and the new one again":     {on, append(lit[:4:4], ringRed+" 0", ringRed+" 100"), true},
		"a report without a value":  {on, append(lit[:4:4], ringRed+" null"), false},
		"dark, and nobody asked":    {on, append(lit[:4:4], ringBrightness+" 0"), false},
		"and bright again":          {on, append(lit[:4:4], ringBrightness+" 0", ringBrightness+" 50"), true},
		"the pattern that was then": {on, append(lit[:4:4], ringOverride+" 0"), false},
		"a beep that has ended":     {beep, []string{soundRepeat + " 1", soundFile + ` "(4) Ding.wav"`, soundFile + ` "(0) Idle (Off).wav"`}, true},
		"an alarm that is silent":   {alarm, []string{soundRepeat + " 255", soundFile + ` "(10) Alarm.wav"`, soundFile + ` "(0) Idle (Off).wav"`}, false},
	} {
		d := told(map[string]string{ringPattern: `{"Present_Value": 1}`, ringOverride: `{"Present_Value": 0}`, ringBrightness: `{"Present_Value": 50}`})
		began := time.Now()
		es := expectations(d.orders(c.order))
		if err := d.said.expect(es); err != nil {
			t.Fatal(err)
		}
		for _, report := range c.said {
			var sub string
			if _, err := fmt.Sscan(report, &sub); err != nil {
				t.Fatal(err)
			}
			d.said.report(sub, []byte(`{"Present_Value": `+report[len(sub)+1:]+`}`))
		}
		var s drivers.Status
		err, _, _ := d.said.progress(es, d.proof(c.order, &s))
		if (err == nil) != c.proved || err != nil && !errors.Is(err, drivers.ErrNotConfirmed) {
			t.Errorf("%s: got %+v, %v, want it proved: %t", name, s, err, c.proved)
		}
		if err == nil && (s.Value != drivers.On || s.ObservedAt.Before(began)) {
			t.Errorf("%s: is proved by %+v", name, s)
		}
	}
}
