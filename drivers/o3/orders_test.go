package o3

import (
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
)

// TestOrders: what goes out, and in which order: the color before it is
// shown, the pattern off before the color no longer hides it.
func TestOrders(t *testing.T) {
	const color100 = `lightringRed {"data":100}, lightringGreen {"data":100}, lightringBlue {"data":100}, ` +
		`lightringColorOverride {"data":1}`
	for _, c := range []struct{ sub, action, value, want string }{
		{"ring-light", "on", ``, color100},
		{"ring-light", "off", ``, `lightringPattern {"data":1}, lightringColorOverride {"data":0}`},
		{"ring-light", "color", `"#ff8000"`, `lightringRed {"data":100}, lightringGreen {"data":50}, ` +
			`lightringBlue {"data":0}, lightringColorOverride {"data":1}`},
		{"ring-light", "color", `"#ffffff"`, color100},
		{"ring-light", "brightness", `100`, `lightringBrightness {"data":100}`},
		{"ring-light", "brightness", `"0"`, `lightringBrightness {"data":0}`},
		{"ring-light", "pattern", `13`, `lightringPattern {"data":13}, lightringColorOverride {"data":0}`},
		{"buzzer", "on", ``, `soundRepeat {"data":255}, soundfile {"data":"(10) Alarm.wav"}`},
		{"buzzer", "off", ``, `soundfile {"data":"(0) Idle (Off).wav"}`},
		{"buzzer", "beep", ``, `soundRepeat {"data":1}, soundfile {"data":"(4) Ding.wav"}`},
		{"buzzer", "beep", `"triple"`, `soundRepeat {"data":3}, soundfile {"data":"(4) Ding.wav"}`},
		{"buzzer", "beep", `{"pattern":"alarm","seconds":2.5}`, `soundRepeat {"data":3}, soundfile {"data":"(10) Alarm.wav"}`},
		{"buzzer", "beep", `{"pattern":"alarm","seconds":0.1}`, `soundRepeat {"data":1}, soundfile {"data":"(10) Alarm.wav"}`},
	} {
		d := &Device{opts: *defaults(), said: newReadings(time.Minute), color: white}
		a, _, ok := d.Describe().Action(c.sub, c.action)
		args, err := a.Parse([]byte(c.value))
		if !ok || err != nil {
			t.Fatalf("%s %s %s: %v", c.sub, c.action, c.value, err)
		}
		if got := written(t, d.orders(drivers.Command{Sub: c.sub, Action: c.action, Args: args})); got != c.want {
			t.Errorf("%s %s %s:\ngot  %s\nwant %s", c.sub, c.action, c.value, got, c.want)
		}
	}
}

func written(t *testing.T, todo []order) string {
	t.Helper()
	var all []string
	for _, o := range todo {
		payload, err := o.payload()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.sub+" "+string(payload))
	}
	return strings.Join(all, ", ")
}

// TestADarkRingIsBrightened: a color on a ring dimmed to nothing would not be
// seen.
func TestADarkRingIsBrightened(t *testing.T) {
	d := &Device{opts: *defaults(), said: newReadings(time.Minute, ringBrightness), color: white}
	d.said.report(ringBrightness, []byte(`{"Present_Value": 0}`))
	got := written(t, d.orders(drivers.Command{Sub: drivers.SubRing, Action: drivers.ActOn}))
	if !strings.Contains(got, `lightringBrightness {"data":50}, lightringColorOverride`) {
		t.Errorf("got %s", got)
	}
}

func TestSoundNames(t *testing.T) {
	for sound, want := range map[string]string{
		"Power On": "(1) Power On.wav", "Idle (Off)": idleSound, "Ambient Alert": "(25) Ambient Alert.wav",
	} {
		if got := soundName(sound); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, b := range beeps {
		if strings.HasPrefix(soundName(b.sound), "(-1)") {
			t.Errorf("the hub has no sound %q", b.sound)
		}
	}
}

func TestColor(t *testing.T) {
	for s, want := range map[string]color{
		"#000000": {}, "#ffffff": white, "#ff8000": {100, 50, 0}, "#010203": {0, 1, 1},
	} {
		if got, err := parseColor(s); err != nil || got != want {
			t.Errorf("%s: got %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "#", "red", "#ff00", "#gg0000", "ff00000", "#+f0000"} {
		if got, err := parseColor(s); err == nil {
			t.Errorf("%q is %v", s, got)
		}
	}
	if got := (color{100, 50, 0}).String(); got != "#ff8000" {
		t.Errorf("got %s", got)
	}
}
