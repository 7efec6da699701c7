package drivers

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// testActions have every kind of parameter.
func testActions() map[string]Action {
	return map[string]Action{
		"on": {Name: "on"},
		"dim": {Name: "dim", Params: []Param{
			{Name: ValueName, Kind: KindNumber, Max: 100, Unit: "%"},
		}},
		"step": {Name: "step", Params: []Param{
			{Name: ValueName, Kind: KindInteger, Min: -3, Max: 3},
		}},
		"say": {Name: "say", Params: []Param{
			{Name: ValueName, Kind: KindText, Min: 1, Max: 5},
		}},
		"paint": {Name: "paint", Params: []Param{
			{Name: ValueName, Kind: KindColor, Optional: true},
		}},
		"beep": {Name: "beep", Params: []Param{
			{Name: "pattern", Kind: KindChoice, Choices: []string{"single", "double"}, Default: "single"},
			{Name: "seconds", Kind: KindNumber, Min: 0.1, Max: 10, Unit: "s", Optional: true},
		}},
		"must": {Name: "must", Params: []Param{
			{Name: "a", Kind: KindNumber, Max: 1},
			{Name: "b", Kind: KindText, Max: 9},
		}},
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		action, raw string
		want        Args
	}{
		{"on", ``, Args{}},
		{"on", `null`, Args{}},
		{"dim", `0`, Args{"value": 0.0}},
		{"dim", `100`, Args{"value": 100.0}},
		{"dim", `33.3`, Args{"value": 33.3}},
		{"dim", `"55"`, Args{"value": 55.0}},
		{"dim", `1e2`, Args{"value": 100.0}},
		{"step", `-3`, Args{"value": -3.0}},
		{"step", `"2"`, Args{"value": 2.0}},
		{"step", `2.0`, Args{"value": 2.0}},
		{"say", `"héllö"`, Args{"value": "héllö"}},
		{"paint", `"#FF8800"`, Args{"value": "#ff8800"}},
		{"paint", `null`, Args{}},
		{"beep", ``, Args{"pattern": "single"}},
		{"beep", `{}`, Args{"pattern": "single"}},
		{"beep", `"double"`, Args{"pattern": "double"}},
		{"beep", `{"pattern":"double","seconds":0.1}`, Args{"pattern": "double", "seconds": 0.1}},
		{"beep", `{"seconds":"10"}`, Args{"pattern": "single", "seconds": 10.0}},
		{"must", `{"a":1,"b":""}`, Args{"a": 1.0, "b": ""}},
	}
	for _, tt := range tests {
		got, err := testActions()[tt.action].Parse(json.RawMessage(tt.raw))
		if err != nil {
			t.Errorf("%s %s: %v", tt.action, tt.raw, err)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s:\n%s", tt.action, tt.raw, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ action, raw, want string }{
		{"on", `1`, "value is not known: on takes no value"},
		{"dim", ``, "value is missing: want a number from 0 to 100 %"},
		{"dim", `null`, "value is missing: want a number from 0 to 100 %"},
		{"dim", `-0.1`, "value is out of range: want a number from 0 to 100 %"},
		{"dim", `100.1`, "value is out of range: want a number from 0 to 100 %"},
		{"dim", `"NaN"`, "value is out of range: want a number from 0 to 100 %"},
		{"dim", `"Inf"`, "value is out of range: want a number from 0 to 100 %"},
		{"dim", `"warm"`, "value is out of range: want a number from 0 to 100 %"},
		{"dim", `true`, "value is out of range: want a number from 0 to 100 %"},
		{"dim", `[1]`, "value is out of range: want a number from 0 to 100 %"},
		{"dim", `{"value":1}`, "value is out of range: want a number from 0 to 100 %"},
		{"dim", `{`, "value is not JSON"},
		{"dim", `1 2`, "value is not JSON"},
		{"step", `0.5`, "value is out of range: want a whole number from -3 to 3"},
		{"say", `""`, "value is out of range: want a text of 1 to 5 characters"},
		{"say", `"sechsä"`, "value is out of range: want a text of 1 to 5 characters"},
		{"say", `5`, "value is out of range: want a text of 1 to 5 characters"},
		{"paint", `"#ff880"`, `value is out of range: want a color like "#ff8800"`},
		{"paint", `"#ff8800\n"`, `value is out of range: want a color like "#ff8800"`},
		{"paint", `"red"`, `value is out of range: want a color like "#ff8800"`},
		{"beep", `"triple"`, "value.pattern is out of range: want one of single, double"},
		{"beep", `{"seconds":0}`, "value.seconds is out of range: want a number from 0.1 to 10 s"},
		{"beep", `{"loud":1}`, "value.loud is not known: beep takes pattern, seconds"},
		{"must", `{"a":0}`, "value.b is missing: want a text of 0 to 9 characters"},
		{"must", `{"b":"x"}`, "value.a is missing: want a number from 0 to 1"},
	}
	for _, tt := range tests {
		_, err := testActions()[tt.action].Parse(json.RawMessage(tt.raw))
		var field *FieldError
		if !errors.As(err, &field) || err.Error() != tt.want {
			t.Errorf("%s %s: %v, want %s", tt.action, tt.raw, err, tt.want)
		}
	}
}

// Whatever comes in, what comes out is in range, or the field is named.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{``, `null`, `1`, `"1"`, `{"pattern":"double"}`, `"#ff8800"`, `[]`, `{"a":1e999}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, a := range testActions() {
			args, err := a.Parse(raw)
			var field *FieldError
			if err != nil && (!errors.As(err, &field) || field.Field == "" || field.Problem == "") {
				t.Fatalf("%s: error without a field: %v", a.Name, err)
			}
			for name := range args {
				i := slices.IndexFunc(a.Params, func(p Param) bool { return p.Name == name })
				if i < 0 || !fits(a.Params[i], args) {
					t.Fatalf("%s: %s is %v", a.Name, name, args[name])
				}
			}
		}
	})
}

// fits says whether an argument is within its parameter's range.
func fits(p Param, args Args) bool {
	switch n := args.Number(p.Name); p.Kind {
	case KindInteger:
		return n >= p.Min && n <= p.Max && n == math.Trunc(n)
	case KindNumber:
		return n >= p.Min && n <= p.Max
	case KindChoice:
		return slices.Contains(p.Choices, args.Text(p.Name))
	case KindColor:
		return hexColor.MatchString(args.Text(p.Name))
	}
	n := float64(utf8.RuneCountInString(args.Text(p.Name)))
	return n >= p.Min && n <= p.Max
}

func TestArgs(t *testing.T) {
	a := Args{"n": 1.5, "s": "x"}
	if a.Number("n") != 1.5 || a.Number("s") != 0 || a.Number("none") != 0 {
		t.Error("Number")
	}
	if a.Text("s") != "x" || a.Text("n") != "" || a.Text("none") != "" {
		t.Error("Text")
	}
	if !a.Has("n") || a.Has("none") || Args(nil).Has("n") {
		t.Error("Has")
	}
}

// TestParamShowsItsBounds, also those that are 0.
func TestParamShowsItsBounds(t *testing.T) {
	for want, p := range map[string]Param{
		`{"name":"value","kind":"integer","unit":"%","min":0,"max":100}`: {Name: "value", Kind: KindInteger, Unit: "%", Max: 100},
		`{"name":"text","kind":"text","min":0,"max":20}`:                 {Name: "text", Kind: KindText, Max: 20},
		`{"name":"at","kind":"number","optional":true,"min":-5,"max":0}`: {Name: "at", Kind: KindNumber, Min: -5, Optional: true},
		`{"name":"color","kind":"color"}`:                                {Name: "color", Kind: KindColor},
	} {
		if got, err := json.Marshal(p); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}
