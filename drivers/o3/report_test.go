package o3

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestCelsius(t *testing.T) {
	for _, c := range []struct{ payload, want string }{
		{`{"Present_Value": 24.51, "Units": "°C", "updated": "31-08-2021 23:09:26.21", "status": 0}`, "24.5"},
		{`{"Present_Value": 24.55}`, "24.6"},
		{`{"Present_Value": "24.51", "Units": "°C"}`, "24.5"},
		{`{"Present_Value": " 24 ", "Units": "C"}`, "24"},
		{`{"Present_Value": 0, "Units": "degrees-celsius"}`, "0"},
		{`{"Present_Value": -0.0, "Units": "°C"}`, "0"},
		{`{"Present_Value": 59, "Units": "Â°C"}`, "59"},
		{`{"Present_Value": 68, "Units": "°F"}`, "20"},
		{`{"Present_Value": "71.6", "Units": "degF"}`, "22"},
		{`{"Present_Value": 32, "Units": "Fahrenheit"}`, "0"},
		{`{"Present_Value": 138, "Units": "°F"}`, "58.9"},
		{`{"Present_Value": 59.1, "Units": "°C"}`, ""},
		{`{"Present_Value": -0.1, "Units": "°C"}`, ""},
		{`{"Present_Value": 31.9, "Units": "°F"}`, ""},
		{`{"Present_Value": 297.6, "Units": "K"}`, ""},
		{`{"Present_Value": 24.5, "Units": "%"}`, "24.5"}, // no letters: as if left out
		{`{"Present_Value": "warm", "Units": "°C"}`, ""},
	} {
		r, err := parseReport([]byte(c.payload))
		if err != nil {
			t.Errorf("%s: %v", c.payload, err)
			continue
		}
		got, err := r.celsius()
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.payload, got, err, c.want)
		}
	}
}

func TestReportsThatCannotBeRead(t *testing.T) {
	for _, payload := range []string{
		``, `24.5`, `"24.5"`, `[]`, `null`, `{`, `{}`, `{"Present_Value": }`, `{"Present_Value": null}`,
		`{"Present_Value": true}`, `{"Present_Value": [1]}`, `{"Present_Value": {"a": 1}}`,
		`{"Present_Value": NaN}`, `{"Present_Value": 1e999}`, `{"Present_Value": 1, "Units": 5}`,
		`{"Present_Value": 1} {"Present_Value": 2}`, `{"present": 1}`, "\xff\xfe",
		`{"Present_Value": "` + strings.Repeat("x", maxText+1) + `"}`,
		`{"Present_Value": 1, "Units": "` + strings.Repeat("x", maxPayload) + `"}`,
	} {
		if r, err := parseReport([]byte(payload)); !errors.Is(err, errReport) {
			t.Errorf("%.60s: got %+v, %v", payload, r, err)
		}
	}
}

func TestTextThatIsNoNumber(t *testing.T) {
	for _, text := range []string{"NaN", "inf", "+1", "0x10", "1_000", "1,5", "", "on", "01"} {
		r, err := parseReport([]byte(`{"Present_Value": "` + text + `"}`))
		if err != nil || !r.isText {
			t.Errorf("%q: got %+v, %v", text, r, err)
		}
		if _, err := r.within(math.Inf(-1), math.Inf(1)); err == nil {
			t.Errorf("%q counts as a number", text)
		}
	}
}

func TestWhole(t *testing.T) {
	for payload, want := range map[string]int{
		`{"Present_Value": 1}`: 1, `{"Present_Value": "0"}`: 0, `{"Present_Value": 1.0}`: 1,
		`{"Present_Value": 0.5}`: -1, `{"Present_Value": 2}`: -1, `{"Present_Value": "on"}`: -1,
	} {
		r, err := parseReport([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.whole(0, 1)
		if (err == nil) != (want >= 0) || err == nil && got != want {
			t.Errorf("%s: got %d, %v", payload, got, err)
		}
	}
}

func TestIdle(t *testing.T) {
	for payload, want := range map[string]bool{
		`{"Present_Value": "(0) Idle (Off).wav"}`: true, `{"Present_Value": "Idle (Off)"}`: true,
		`{"Present_Value": 0}`: true, `{"Present_Value": ""}`: true, `{"Present_Value": "0"}`: true,
		`{"Present_Value": "(1) Power On.wav"}`: false, `{"Present_Value": "(10) Alarm.wav"}`: false,
		`{"Present_Value": 1}`: false, `{"Present_Value": "fire alarm.WAV"}`: false,
	} {
		r, err := parseReport([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.idle(); err != nil || got != want {
			t.Errorf("%s: got %t, %v", payload, got, err)
		}
	}
	for _, payload := range []string{`{"Present_Value": 9999}`, `{"Present_Value": "NaN"}`, `{"Present_Value": 0.5}`} {
		r, err := parseReport([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.idle(); !errors.Is(err, errReport) {
			t.Errorf("%s: got %t, %v", payload, got, err)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"Present_Value": 24.51, "Units": "°C", "updated": "31-08-2021 23:09:26.21", "status": 0}`))
	f.Add([]byte(`{"Present_Value": "68", "Units": "°F"}`))
	f.Add([]byte(`{"Present_Value": "(1) Power On.wav"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, err := parseReport(payload)
		if err != nil {
			if len(err.Error()) > 200 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		if math.IsNaN(r.number) || math.IsInf(r.number, 0) || len(r.text) > maxText {
			t.Errorf("accepted %+v", r)
		}
		if c, err := r.celsius(); err == nil {
			n, ok := number([]byte(c))
			if !ok || n < 0 || n > 59 {
				t.Errorf("temperature %q is none from 0 to 59", c)
			}
			if math.Abs(n*10-math.Round(n*10)) > 1e-9 || c == "-0" {
				t.Errorf("temperature %q is not written to a tenth", c)
			}
		}
	})
}
