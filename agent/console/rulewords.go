package console

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"roomgate/agent/eventwords"
	"roomgate/agent/rule"
	"roomgate/agent/rule/engine"
	"roomgate/agent/web"
	"roomgate/drivers"
)

// ruleSentence is what a rule does, as people say it.
func ruleSentence(r rule.Rule) string {
	var then []string
	for _, a := range r.Actions {
		then = append(then, actionWords(a))
	}
	text := triggerWords(r.Trigger)
	if r.Condition != "" {
		text += ", if " + conditionWords(r.Condition)
	}
	return text + ": " + strings.Join(then, "; ")
}

// triggerWords are when a rule is asked.
func triggerWords(t rule.Trigger) string {
	switch {
	case strings.Contains(t.Time, " "):
		return "At the times " + t.Time
	case t.Time != "":
		return "At " + t.Time
	case t.Before > 0:
		return length(t.Before) + " before the " + momentWords[t.Booking] + " of a meeting"
	case t.After > 0:
		return length(t.After) + " after the " + momentWords[t.Booking] + " of a meeting"
	case t.Booking != "":
		return "At the event “" + eventwords.Kind(t.Booking) + "”"
	}
	if words := eventWords[joined(" ", t.Event, t.DeviceType, t.SubDevice)]; words != "" {
		return words
	}
	return "At the event “" + eventwords.Kind(t.Event) + "”" + joined(", ", ifAny(" of ", typeWords[t.DeviceType]), t.SubDevice)
}

func length(d rule.Duration) string { return web.Length(time.Duration(d)) }

func ifAny(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

var momentWords = map[string]string{rule.BookingStart: "start", rule.BookingEnd: "end"}

// eventWords are the events that usual rules wait for.
var eventWords = map[string]string{
	"occupancyChanged":                    "When people come or go",
	"statusChanged o3-sensor temperature": "When the temperature changes",
	"temperatureAlert":                    "When it is too warm or too cold",
	"deviceOffline":                       "When a device is away",
}

// conditions are what usual ones mean; the others are said as they are written.
var conditions = []struct {
	is   *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`occupancy\.value == ["']vacant["']`), "nobody is there"},
	{regexp.MustCompile(`occupancy\.value == ["']occupied["']`), "somebody is there"},
	{regexp.MustCompile(`temperature\.number > ([0-9.]+)`), "it is warmer than $1 °C"},
	{regexp.MustCompile(`temperature\.number < ([0-9.]+)`), "it is colder than $1 °C"},
	{regexp.MustCompile(`(light|fan|camera)\.value == ["'](on|off)["']`), "the $1 is $2"},
}

func conditionWords(text string) string {
	for _, c := range conditions {
		text = c.is.ReplaceAllString(text, c.says)
	}
	return text
}

// actionWords are what a rule does.
func actionWords(a rule.Action) string {
	switch {
	case a.Message != "" && a.To.Nobody():
		return "show “" + a.Message + "” on the display"
	case a.DeviceType == drivers.TypeLock && a.Action == drivers.ActOpen:
		return "open the door"
	case a.Action == drivers.ActOn || a.Action == drivers.ActOff:
		return "switch the " + strings.ToLower(cmp.Or(a.SubDevice, typeWords[a.DeviceType])) + " " + a.Action
	}
	return engine.InWords(a)
}
