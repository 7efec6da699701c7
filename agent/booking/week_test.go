package booking

import (
	"testing"
	"time"
)

func TestParseHours(t *testing.T) {
	for text, want := range map[string]Hours{
		"08:00-18:30":  {480, 1110},
		"8:00 - 18:30": {480, 1110},
		"00:00-24:00":  {0, 1440},
		"23:59-24:00":  {1439, 1440},
		"closed":       {},
	} {
		if got, err := ParseHours(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-", "08:00", "08:00-", "18:00-08:00", "22:00-06:00", "08:00-08:00", "24:00-24:00",
		"08:00-24:01", "08:00-25:00", "8-18", "Closed", "08:00-12:00-14:00", "08:60-09:00", "-1:00-09:00"} {
		if got, err := ParseHours(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
	_, err := ParseHours("22:00-06:00")
	want := `"22:00-06:00": want hours of one day like 08:00-18:30 or 00:00-24:00, or closed`
	if err.Error() != want {
		t.Errorf("got %s", err)
	}
}

func FuzzParseHours(f *testing.F) {
	for _, seed := range []string{"08:00-18:30", "00:00-24:00", "closed", "24:00-24:00", " 8:00 - 9:00", "-", "08:00-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHours(s)
		switch {
		case err != nil && h != (Hours{}):
			t.Fatalf("%q: got %v with %v", s, h, err)
		case err == nil && h != (Hours{}) && (h.From < 0 || h.Until > 1440 || h.From >= h.Until):
			t.Fatalf("%q: got %v", s, h)
		}
	})
}

// always is open around the clock, but by hours.
func always() Week {
	w := Week{}
	for d := range 7 {
		w[time.Weekday(d)] = Hours{0, 1440}
	}
	return w
}

// A week that is open all day is never closed, also where a midnight is skipped
// or comes twice.
func TestAlwaysOpenIsNeverClosed(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "Africa/Cairo", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe", "Pacific/Apia"} {
		z := zone(t, name)
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, z)
		if at, closed := always().closed(from, from.AddDate(1, 0, 0), z); closed {
			t.Errorf("%s is closed at %s", name, at.In(z))
		}
		if at := always().closes(from, z); !at.IsZero() {
			t.Errorf("%s closes at %s", name, at.In(z))
		}
		if at, ok := always().opens(from, z); !ok || !at.Equal(from) {
			t.Errorf("%s opens at %s", name, at.In(z))
		}
	}
}

func TestClockTime(t *testing.T) {
	for _, c := range []struct {
		name, zone string
		y          int
		m          time.Month
		d, minute  int
		want       string // UTC
	}{
		{"plain", "Europe/Berlin", 2026, 3, 2, 8 * 60, "2026-03-02 07:00"},
		{"midnight to come", "Europe/Berlin", 2026, 3, 2, 1440, "2026-03-02 23:00"},
		{"skipped: the change", "Europe/Berlin", 2026, 3, 29, 150, "2026-03-29 01:00"},
		{"twice: the first", "Europe/Berlin", 2026, 10, 25, 150, "2026-10-25 00:30"},
		{"after both", "Europe/Berlin", 2026, 10, 25, 180, "2026-10-25 02:00"},
		{"a skipped midnight", "Africa/Cairo", 2026, 4, 24, 0, "2026-04-23 22:00"},
		{"and as the end of a day", "Africa/Cairo", 2026, 4, 23, 1440, "2026-04-23 22:00"},
		{"a midnight that comes twice", "America/Havana", 2026, 11, 1, 0, "2026-11-01 04:00"},
		{"leap day", "Asia/Kathmandu", 2028, 2, 29, 0, "2028-02-28 18:15"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := clockTime(c.y, c.m, c.d, c.minute, zone(t, c.zone))
			if want := local(t, time.UTC, c.want); !got.Equal(want) {
				t.Fatalf("got %s, want %s", got, want)
			}
		})
	}
}

func TestOpensAndCloses(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct{ at, opens, closes string }{
		{"2026-03-02 07:59", "2026-03-02 08:00", "2026-03-02 07:59"},
		{"2026-03-02 08:00", "2026-03-02 08:00", "2026-03-02 18:00"},
		{"2026-03-02 18:00", "2026-03-03 08:00", "2026-03-02 18:00"},
		{"2026-03-06 12:00", "2026-03-06 12:00", "2026-03-08 00:00"}, // Friday runs into Saturday
		{"2026-03-08 12:00", "2026-03-09 08:00", "2026-03-08 12:00"}, // all Sunday
		{"2026-03-29 12:00", "2026-03-30 08:00", "2026-03-29 12:00"}, // of the day after the clocks changed
	} {
		at := local(t, berlin, c.at)
		if got, ok := workdays.opens(at, berlin); !ok || !got.Equal(local(t, berlin, c.opens)) {
			t.Errorf("at %s it opens at %s", c.at, got.In(berlin))
		}
		if got := workdays.closes(at, berlin); !got.Equal(local(t, berlin, c.closes)) {
			t.Errorf("at %s it closes at %s", c.at, got.In(berlin))
		}
	}
	if at, ok := (Week{time.Monday: {}}).opens(monday, berlin); ok {
		t.Errorf("a space without hours opens at %s", at)
	}
	once := Week{time.Monday: {540, 600}}
	if got, ok := once.opens(local(t, berlin, "2026-03-02 10:00"), berlin); !ok || !got.Equal(local(t, berlin, "2026-03-09 09:00")) {
		t.Errorf("it opens next week at %s", got)
	}
}
