package plot

import (
	"testing"
	"time"
)

var day = time.Date(2026, 11, 23, 0, 0, 0, 0, time.FixedZone("CET", 3600))

func at(hours float64) time.Time { return day.Add(time.Duration(hours * float64(time.Hour))) }

// TestWhatIsKnownOfPeople: a time without a sensor is no time with people, and is said.
func TestWhatIsKnownOfPeople(t *testing.T) {
	for name, c := range map[string]struct {
		presence []Sample
		now      time.Time
		bands    int
		want     string
	}{
		"today":        {[]Sample{{at(9), "occupied"}, {at(10), "vacant"}, {at(14), "occupied"}}, at(14.5), 2, "people were seen for 90 min, not known before 09:00"},
		"another day":  {[]Sample{{at(9), "vacant"}, {at(23), "occupied"}}, at(40), 1, "people were seen for 60 min, not known before 09:00"},
		"gone":         {[]Sample{{at(9), "occupied"}, {at(10), ""}}, at(14), 1, "people were seen for 60 min, not known before 09:00, not known since 10:00"},
		"gone, back":   {[]Sample{{at(9), "occupied"}, {at(10), ""}, {at(12), "occupied"}, {at(13), "vacant"}}, at(14), 2, "people were seen for 120 min, not known before 09:00, not known for 120 min"},
		"no time":      {[]Sample{{at(9), "occupied"}, {at(9), ""}}, time.Time{}, 0, "people were seen for 0 min, not known before 09:00, not known since 09:00"},
		"never sensed": {nil, at(14), 0, "nothing is known of people"},
	} {
		if p := New(nil, c.presence, day, c.now, 16, 28); p.Title != c.want || len(p.Bands) != c.bands {
			t.Errorf("%s: %q with %d bands, want %q with %d", name, p.Title, len(p.Bands), c.want, c.bands)
		}
	}
}

// TestTemperatureThatIsNotKnownIsNotDrawn: the line ends where the sensor was last heard, and
// begins again where it is.
func TestTemperatureThatIsNotKnownIsNotDrawn(t *testing.T) {
	p := New([]Sample{{at(6), "20"}, {at(8), ""}, {at(12), "22"}}, nil, day, at(14), 16, 28)
	if want := "M240 150H320M480 100"; p.Line != want || p.Title != "Temperature between 20.0 and 22.0 °C; nothing is known of people" {
		t.Errorf("it draws %q and says %q, want %q", p.Line, p.Title, want)
	}
}
