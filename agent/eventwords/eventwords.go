// Package eventwords says what has happened as people read it.
package eventwords

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"roomgate/agent/rule"
)

// inCapitals are words of events that are written so.
var inCapitals = strings.NewReplacer("api ", "API ")

// Kind is the type of an event for people: "bookingStarted" is "Booking started".
func Kind(kind string) string {
	if own, ok := strings.CutPrefix(kind, rule.OwnEvent); ok {
		return "Rule: " + own
	}
	var b strings.Builder
	for i, r := range kind {
		switch {
		case r == '.' || r == '_':
			r = ' '
		case i > 0 && unicode.IsUpper(r):
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	text := inCapitals.Replace(b.String())
	return strings.ToUpper(text[:1]) + text[1:]
}

// elsewhere are the details that the row has elsewhere, and what only programs use.
var elsewhere = []string{"meeting_space_id", "device", "device_type", "sub_device", "device_id", "by_id", "by_kind"}

// Details are all details of an event by their names, with times of the zone. Without ids those
// that only programs need are left out.
func Details(details map[string]any, ids bool, at time.Time, zone *time.Location) string {
	var told []string
	for _, name := range slices.Sorted(maps.Keys(details)) {
		if !ids && (strings.HasSuffix(name, "_id") || slices.Contains(elsewhere, name)) {
			continue
		}
		switch text := detailText(details[name], at, zone); {
		case name == "bytes" && text != "":
			told = append(told, size(details[name]))
		case text != "":
			told = append(told, strings.ReplaceAll(name, "_", " ")+": "+text)
		}
	}
	return strings.Join(told, ", ")
}

// size is a number of bytes as people read it.
func size(v any) string {
	n, _ := v.(float64)
	for _, unit := range []string{"B", "kB", "MB"} {
		if n < 1000 {
			return strconv.FormatFloat(n, 'f', 0, 64) + " " + unit
		}
		n /= 1000
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " GB"
}

// pairsText is a detail with names of its own. Those of a person say by themselves what they are.
func pairsText(v map[string]any, at time.Time, zone *time.Location) string {
	var parts []string
	between := " "
	for _, name := range slices.Sorted(maps.Keys(v)) {
		text := detailText(v[name], at, zone)
		if text == "" {
			continue
		}
		if name != "email" && name != "name" {
			text, between = strings.ReplaceAll(name, "_", " ")+" "+text, "; "
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, between)
}

// detailText is one detail; empty: it says nothing.
func detailText(v any, at time.Time, zone *time.Location) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return v
		}
		if t, at = t.In(zone), at.In(zone); t.YearDay() == at.YearDay() && t.Year() == at.Year() {
			if t.Second() == 0 {
				return t.Format("15:04")
			}
			return t.Format("15:04:05")
		}
		return t.In(zone).Format("2 Jan 2006 15:04")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case map[string]any:
		return pairsText(v, at, zone)
	case []any:
		var parts []string
		for _, one := range v {
			if text := detailText(one, at, zone); text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, "; ")
	}
	return fmt.Sprint(v)
}
