package drivers

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Action is a command that a device takes, with the values it accepts.
type Action struct {
	Name    string  `json:"name"`
	Summary string  `json:"summary"` // how a person would say it
	Params  []Param `json:"params,omitempty"`
}

// Param is one value of an action. An action with a single parameter named
// "value" takes a bare JSON value; every other takes an object by names.
type Param struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"` // one of the Kind constants
	Unit     string   `json:"unit,omitempty"`
	Min      float64  `json:"min,omitempty"` // number: lowest value; text: fewest characters
	Max      float64  `json:"max,omitempty"` // number: highest value; text: most characters
	Choices  []string `json:"choices,omitempty"`
	Optional bool     `json:"optional,omitempty"`
	Default  any      `json:"default,omitempty"` // a float64 or a string
}

// MarshalJSON writes the bounds of every kind that has them, 0 too.
func (p Param) MarshalJSON() ([]byte, error) {
	type plain Param // without this method
	wire := struct {
		plain
		Min *float64 `json:"min,omitempty"`
		Max *float64 `json:"max,omitempty"`
	}{plain: plain(p)}
	switch p.Kind {
	case KindNumber, KindInteger, KindText:
		wire.Min, wire.Max = &p.Min, &p.Max
	}
	return json.Marshal(wire)
}

// The kinds of a parameter.
const (
	KindNumber  = "number"  // any number from Min to Max; numeric text is accepted
	KindInteger = "integer" // a whole number from Min to Max
	KindText    = "text"    // Min to Max characters
	KindChoice  = "choice"  // one of Choices
	KindColor   = "color"   // "#rrggbb"
)

// ValueName is the name of a parameter that stands alone.
const ValueName = "value"

// Args are the checked values of a command: float64 or string by name.
type Args map[string]any

// Number returns a number, 0 if the argument is absent.
func (a Args) Number(name string) float64 { f, _ := a[name].(float64); return f }

// Text returns a text, empty if the argument is absent.
func (a Args) Text(name string) string { s, _ := a[name].(string); return s }

// Has says whether the argument was given or has a default.
func (a Args) Has(name string) bool { _, ok := a[name]; return ok }

// Parse checks raw, the JSON of a command's value (nil or null for none),
// against the action. The error is a *FieldError.
func (a Action) Parse(raw json.RawMessage) (Args, error) {
	given, err := a.split(raw)
	if err != nil {
		return nil, err
	}
	args := Args{}
	for _, p := range a.Params {
		value, ok := given[p.Name]
		delete(given, p.Name)
		if !ok {
			if p.Default != nil {
				args[p.Name] = p.Default
			} else if !p.Optional {
				return nil, &FieldError{a.field(p.Name), "is missing: " + p.wants()}
			}
			continue
		}
		if args[p.Name], err = p.parse(value); err != nil {
			return nil, &FieldError{a.field(p.Name), err.Error()}
		}
	}
	for name := range given {
		return nil, &FieldError{a.field(name), "is not known: " + a.takes()}
	}
	return args, nil
}

func (a Action) bare() bool { return len(a.Params) == 1 && a.Params[0].Name == ValueName }

func (a Action) field(name string) string {
	if name == ValueName {
		return ValueName
	}
	return ValueName + "." + name
}

func (a Action) takes() string {
	if len(a.Params) == 0 {
		return a.Name + " takes no value"
	}
	names := make([]string, len(a.Params))
	for i, p := range a.Params {
		names[i] = p.Name
	}
	return a.Name + " takes " + strings.Join(names, ", ")
}

// split sorts the given JSON by parameter name.
func (a Action) split(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, &FieldError{ValueName, "is not JSON"}
	}
	if a.bare() || len(a.Params) == 0 {
		return map[string]any{ValueName: v}, nil
	}
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	// A bare value is the first parameter: {"value": "double"} beeps double.
	return map[string]any{a.Params[0].Name: v}, nil
}

var hexColor = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

func (p Param) parse(v any) (any, error) {
	switch p.Kind {
	case KindNumber, KindInteger:
		return p.parseNumber(v)
	case KindChoice:
		if s, ok := v.(string); ok && slices.Contains(p.Choices, s) {
			return s, nil
		}
	case KindColor:
		if s, ok := v.(string); ok && hexColor.MatchString(s) {
			return strings.ToLower(s), nil
		}
	case KindText:
		s, ok := v.(string)
		if n := float64(utf8.RuneCountInString(s)); ok && n >= p.Min && n <= p.Max {
			return s, nil
		}
	}
	return nil, fmt.Errorf("is out of range: %s", p.wants())
}

func (p Param) parseNumber(v any) (any, error) {
	f, ok := v.(float64)
	if s, text := v.(string); text {
		parsed, err := strconv.ParseFloat(s, 64)
		f, ok = parsed, err == nil
	}
	whole := p.Kind == KindNumber || f == math.Trunc(f)
	if !ok || !whole || !(f >= p.Min && f <= p.Max) { // NaN fails both
		return nil, fmt.Errorf("is out of range: %s", p.wants())
	}
	return f, nil
}

// wants says what would have been right.
func (p Param) wants() string {
	switch p.Kind {
	case KindChoice:
		return "want one of " + strings.Join(p.Choices, ", ")
	case KindColor:
		return `want a color like "#ff8800"`
	case KindText:
		return fmt.Sprintf("want a text of %g to %g characters", p.Min, p.Max)
	}
	kind := "number"
	if p.Kind == KindInteger {
		kind = "whole number"
	}
	return strings.TrimSpace(fmt.Sprintf("want a %s from %g to %g %s", kind, p.Min, p.Max, p.Unit))
}
