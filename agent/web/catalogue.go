package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed words
var wordFiles embed.FS

// Languages are those that pages speak, as configurations name them.
var Languages = []string{"en", "de", "fr", "es", "nl"}

// Catalogue has the texts of a language by their keys. A text may have places as
// {time}.
type Catalogue struct {
	Language string
	texts    map[string]string
}

// catalogues are those of all languages.
var catalogues = sync.OnceValue(func() map[string]*Catalogue {
	all := map[string]*Catalogue{}
	for _, language := range Languages {
		c := &Catalogue{Language: language}
		text, err := wordFiles.ReadFile("words/" + language + ".json")
		if err == nil {
			err = json.Unmarshal(text, &c.texts)
		}
		if err != nil {
			panic(err) // it is embedded, and a test reads all of them
		}
		all[language] = c
	}
	return all
})

// CatalogueOf returns the catalogue of a language; the English one where there is none.
func CatalogueOf(language string) *Catalogue {
	if c := catalogues()[language]; c != nil {
		return c
	}
	return catalogues()[Languages[0]]
}

// T is the text of a key, with the values of its places: T("until", "time", "14:00").
// A key without a text is shown as it is.
func (c *Catalogue) T(key string, places ...any) string {
	text, ok := c.texts[key]
	if !ok {
		return key
	}
	for pair := range slices.Chunk(places, 2) {
		if len(pair) == 2 {
			text = strings.ReplaceAll(text, fmt.Sprint("{", pair[0], "}"), fmt.Sprint(pair[1]))
		}
	}
	return text
}

// Has says whether there is a text of that key.
func (c *Catalogue) Has(key string) bool { _, ok := c.texts[key]; return ok }

// list is a text that is a list, as the names of days.
func (c *Catalogue) list(key string) []string { return strings.Split(c.T(key), " ") }

// Date is the day of a time, as "Mon 23 Nov".
func (c *Catalogue) Date(t time.Time) string {
	return c.T("date", "weekday", c.list("weekdays")[t.Weekday()], "day", t.Day(), "month", c.list("months")[t.Month()-1])
}

// Weekday is the short name of the day of a time.
func (c *Catalogue) Weekday(t time.Time) string { return c.list("weekdays")[t.Weekday()] }

// Clock is the time of day.
func Clock(t time.Time, twelve bool) string {
	if twelve {
		return t.Format("3:04 PM")
	}
	return t.Format("15:04")
}

// Length is a length of time in the units that all languages here share: "43 min",
// "1 h 20 min".
func Length(d time.Duration) string {
	minutes := int(d.Round(time.Minute) / time.Minute)
	switch h, m := minutes/60, minutes%60; {
	case h == 0:
		return fmt.Sprintf("%d min", m)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	default:
		return fmt.Sprintf("%d h %d min", h, m)
	}
}

// Age is how long ago something was: "0 s", "4 s", "12 min", "3 h".
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// Bytes is a number of bytes for people.
func Bytes[N int64 | uint64 | int](n N) string {
	size := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if size < 1000 {
			if unit == "B" || size >= 100 {
				return fmt.Sprintf("%.0f %s", size, unit)
			}
			return fmt.Sprintf("%.1f %s", size, unit)
		}
		size /= 1000
	}
	return fmt.Sprintf("%.1f TB", size)
}
