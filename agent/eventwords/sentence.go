package eventwords

import (
	"maps"
	"regexp"
	"strings"
	"time"
)

// booked is what is said of a booking.
const booked = "[{start_time}][ to {end_time}][, “{title}”][, {organizer}][, {source}][, by {by}][: {reason}]"

// sentences are what is said of an event by its type. The part in brackets is left out if the
// event has no such detail.
var sentences = map[string]string{
	"commandCompleted":   "[{action}: ][{state}][, it is {value}][, {reason}][, ordered by {via}]",
	"statusChanged":      "[It is {value}][, was {previous}]",
	"occupancyChanged":   "[The room is {value}][, was {previous}]",
	"deviceOnline":       "It answers[ and is {value}]",
	"deviceOffline":      "It is away[: {reason}]",
	"temperatureAlert":   "It is {temperature} °C[, its range is {low} to {high} °C]",
	"temperatureNormal":  "It is {temperature} °C again[, its range is {low} to {high} °C]",
	"booking.created":    booked,
	"booking.updated":    booked,
	"booking.start":      booked,
	"booking.end":        booked,
	"booking.cancelled":  booked,
	"booking.checked_in": booked,
	"booking.released":   booked,
	"booking.displaced":  booked,
	"consoleSignedIn":    "[From {address}]",
	"consoleCodeCreated": "[By {by}]",
	"problemReported":    "[{problem}][, from {by}][: {devices}]",
	"doorForced":         "It was opened while it was locked",
	"doorHeldOpen":       "It has stood open for too long",
	"doorShut":           "It is shut again",
	"clockJumped":        "It shows {shows}[, {seconds} s away from the time that has passed]",
	"edgeRegistered":     "[{name}][, a {kind}]",
	"edgeDeleted":        "[{name}][, a {kind}][, by {by}]",
}

// values are words of details that people would not use.
var values = map[string]map[string]string{
	"source":  {"walk_up": "walked in", "local": "made in the building", "cloud": "made at the cloud", "calendar": "from the calendar"},
	"state":   {"checked_in": "checked in"},
	"problem": {"screen": "Screen or sound", "light": "Light", "door": "Door", "air": "Too warm, too cold, air", "dirt": "Not clean", "furniture": "Chairs or tables", "other": "Something else"},
}

var optional, named = regexp.MustCompile(`\[[^]]*\]`), regexp.MustCompile(`\{[a-z_]+\}`)

// Sentence says what an event of a type is about, with times of the zone. A type that has no
// sentence is told by its name and its other details.
func Sentence(kind string, details map[string]any, at time.Time, zone *time.Location) string {
	form, known := sentences[kind]
	if !known {
		details = maps.Clone(details)
		name := detailText(details["name"], at, zone)
		if name != "" {
			delete(details, "name")
			name = "“" + name + "”"
		}
		return strings.Trim(name+", "+Details(details, false, at, zone), ", ")
	}
	missing := false
	fill := func(part string) string {
		missing = false
		return named.ReplaceAllStringFunc(part, func(name string) string {
			name = strings.Trim(name, "{}")
			text := detailText(details[name], at, zone)
			if word := values[name][text]; word != "" {
				text = word
			}
			missing = missing || text == ""
			return text
		})
	}
	var b strings.Builder
	from := 0
	for _, span := range append(optional.FindAllStringIndex(form, -1), []int{len(form), len(form)}) {
		b.WriteString(fill(form[from:span[0]]))
		if span[1] > span[0] {
			if text := fill(form[span[0]+1 : span[1]-1]); !missing {
				b.WriteString(text)
			}
		}
		from = span[1]
	}
	return strings.TrimLeft(b.String(), ", :")
}
