package console

import (
	"encoding/json"
	"fmt"
	"html/template"
	"time"

	"roomgate/agent/web"
)

// helpers are what templates may call.
var helpers = template.FuncMap{
	"json":  jsonText,
	"ago":   web.Age,
	"bytes": web.Bytes[int64],
	"title": func(deviceType string) string { return typeWords[deviceType] },
	"join":  joined,
	"last":  func(i int, all []string) bool { return i == len(all)-1 },
	"id":    func(id string) map[string]string { return map[string]string{"id": id} },
	"find": func(id, deviceType string) map[string]string {
		return map[string]string{"id": id, "device_type": deviceType}
	},
}

// jsonText is a value as JSON, for attributes of which the script makes requests. The
// template escapes it.
func jsonText(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

// clockText is a time of day, with the date if it is of another day than now. Both are in
// the zone of now.
func clockText(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("Mon 2 Jan 15:04")
}

// sentence is what was said, as a page says it; nothing stays nothing.
func sentence(said string) string {
	if said == "" {
		return ""
	}
	return capital(said) + "."
}

// age is how long something took, or is ago.
func age(d time.Duration) string {
	if d >= 0 && d < 100*time.Millisecond {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return web.Age(d)
}

func minutesText(d time.Duration) string { return fmt.Sprint(int(d.Minutes())) }

// undoText is a request that takes something back, as the script reads it. A place as
// {id} in send is filled by the answer to what it takes back, and nothing in body.
func undoText(send string, body map[string]any, done string) string {
	text, _ := json.Marshal(struct { // texts, numbers and persons can be encoded
		Send string         `json:"send"`
		Body map[string]any `json:"body"`
		Done string         `json:"done"`
	}{send, body, done})
	return string(text)
}
