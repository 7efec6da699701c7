package config

import (
	"slices"
	"strings"

	"roomgate/agent/booking"
)

// Display is how the page at the door of a space looks.
type Display struct {
	Language string `yaml:"language"` // one of DisplayLanguages
	Clock    string `yaml:"clock"`    // one of DisplayClocks
	Theme    string `yaml:"theme"`    // one of DisplayThemes
	// Night is when the page is dark while nobody is in the room, as 19:00-07:00;
	// empty: never.
	Night string `yaml:"night"`
}

// What a Display may say.
var (
	DisplayLanguages = []string{"en", "de", "fr", "es", "nl"}
	DisplayClocks    = []string{"24h", "12h"}
	DisplayThemes    = []string{"auto", "day", "night", "mono"}
)

func (d *Display) defaults() { *d = Display{Language: "en", Clock: "24h", Theme: "auto"} }

// Twelve says that the clock has 12 hours.
func (d Display) Twelve() bool { return d.Clock == "12h" }

// Dark says whether a minute of the local day is in the night.
func (d Display) Dark(minute int) bool {
	from, until, err := d.night()
	switch {
	case err != nil || from == until:
		return false
	case from < until:
		return from <= minute && minute < until
	}
	return minute >= from || minute < until
}

// night is from which minute of the day until which it lasts; it may begin late
// and end early.
func (d Display) night() (from, until int, err error) {
	if d.Night == "" {
		return 0, 0, nil
	}
	evening, morning, _ := strings.Cut(d.Night, "-")
	late, err := booking.ParseHours(strings.TrimSpace(evening) + "-24:00")
	if err != nil {
		return 0, 0, err
	}
	early, err := booking.ParseHours("00:00-" + strings.TrimSpace(morning))
	return late.From, early.Until, err
}

// display refuses what no page can look like.
func (r *reader) display(key string, d Display) {
	for _, x := range []struct {
		field, text string
		known       []string
	}{{"language", d.Language, DisplayLanguages}, {"clock", d.Clock, DisplayClocks}, {"theme", d.Theme, DisplayThemes}} {
		if !slices.Contains(x.known, x.text) {
			r.refuse(key+".display."+x.field, "is %q: want %s", x.text, strings.Join(x.known, ", "))
		}
	}
	if _, _, err := d.night(); err != nil {
		r.refuse(key+".display.night", "is %q: want a time as 19:00-07:00", d.Night)
	}
}

// Screen is what the screen at the door of a space shows.
type Screen struct {
	ScreenSaverURL string  `yaml:"screen_saver_url"`
	IsScreenSaver  bool    `yaml:"is_screen_saver"`
	Display        Display `yaml:"display"`
}
