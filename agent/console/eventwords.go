package console

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

// EventWords is the type of an event for people: "bookingStarted" is "Booking started".
func EventWords(kind string) string {
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

// untold are the details that the row has elsewhere, and what only programs use.
var untold = []string{"meeting_space_id", "device", "device_type", "sub_device", "device_id", "by_id", "by_kind"}

// detailsText are the details of an event for people, with times of the zone.
func detailsText(details map[string]any, at time.Time, zone *time.Location) string {
	var told []string
	for _, name := range slices.Sorted(maps.Keys(details)) {
		if text := detailText(details[name], at, zone); text != "" && !slices.Contains(untold, name) {
			told = append(told, strings.ReplaceAll(name, "_", " ")+": "+text)
		}
	}
	return strings.Join(told, ", ")
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
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text := detailText(v[name], at, zone); text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, " ")
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
