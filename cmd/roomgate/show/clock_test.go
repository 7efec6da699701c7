package show

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clockIn is a clock in a zone; now is RFC 3339.
func clockIn(t testing.TB, zone, now string) Clock {
	t.Helper()
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	n, err := time.Parse(time.RFC3339, now)
	if err != nil {
		t.Fatal(err)
	}
	return Clock{z, n}
}

func TestDay(t *testing.T) {
	// In Berlin it is Monday already.
	c := clockIn(t, "Europe/Berlin", "2026-11-22T23:30:00Z")
	for word, want := range map[string]string{
		"": "Mon 23 Nov 2026", "today": "Mon 23 Nov 2026", "Tomorrow": "Tue 24 Nov 2026", "yesterday": "Sun 22 Nov 2026",
		"monday": "Mon 23 Nov 2026", "tue": "Tue 24 Nov 2026", "SUNDAY": "Sun 29 Nov 2026", "2028-02-29": "Tue 29 Feb 2028",
	} {
		if got, err := c.Day(word); err != nil || got.String() != want {
			t.Errorf("%q is %s, %v, want %s", word, got, err, want)
		}
	}
	for _, word := range []string{"someday", "2026-02-29", "23.11.", "m", "2026-11-23T10:00"} {
		if _, err := c.Day(word); !isUsage(err) {
			t.Errorf("%q: %v", word, err)
		}
	}
}

func isUsage(err error) bool {
	var wrong *UsageError
	return errors.As(err, &wrong)
}

func TestTimeOfTheRoom(t *testing.T) {
	c := clockIn(t, "Europe/Berlin", "2026-11-23T09:07:00Z")
	tomorrow := c.Today().Add(1)
	for word, want := range map[string]string{
		"14:00":                     "2026-11-24T13:00:00Z",
		"9:30":                      "2026-11-24T08:30:00Z",
		" 00:00 ":                   "2026-11-23T23:00:00Z",
		"24:00":                     "2026-11-24T23:00:00Z",
		"2026-07-01T14:00":          "2026-07-01T12:00:00Z",
		"2026-07-01 14:00":          "2026-07-01T12:00:00Z",
		"2026-07-01T14:00:30":       "2026-07-01T12:00:30Z",
		"2026-07-01T14:00Z":         "2026-07-01T14:00:00Z",
		"2026-07-01T14:00:00-04:00": "2026-07-01T18:00:00Z",
		"now":                       "2026-11-23T09:07:00Z",
		"+30m":                      "2026-11-23T09:37:00Z",
	} {
		if got, err := c.At(word, tomorrow); err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q is %s, %v, want %s", word, got.UTC().Format(time.RFC3339), err, want)
		}
	}
	for _, word := range []string{"", "25:00", "14", "14h", "noon", "14:60", "+-5m", "+x", "-30m", "2026-13-01T10:00"} {
		if got, err := c.At(word, tomorrow); !isUsage(err) {
			t.Errorf("%q is %s, %v", word, got, err)
		}
	}
	for word, want := range map[string]string{"tomorrow": "is a day: want a time as 14:00", "noon": "is no time: want one as 14:00"} {
		if _, err := c.At(word, tomorrow); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", word, err, want)
		}
	}
	start := c.Now
	if _, err := c.Until("15", start, tomorrow); err == nil || !strings.Contains(err.Error(), "or a length as 30m") {
		t.Errorf("15: %v", err)
	}
	for word, want := range map[string]time.Duration{"30m": 30 * time.Minute, "+1h30m": 90 * time.Minute} {
		if got, err := c.Until(word, start, tomorrow); err != nil || got.Sub(start) != want {
			t.Errorf("%q ends at %s, %v", word, got, err)
		}
	}
	for _, word := range []string{"30s", "0m", "+", "9000h", "15"} {
		if got, err := c.Until(word, start, tomorrow); !isUsage(err) {
			t.Errorf("%q ends at %s, %v", word, got, err)
		}
	}
}

func TestClocksThatChange(t *testing.T) {
	c := clockIn(t, "Europe/Berlin", "2026-03-01T09:00:00Z")
	_, err := c.At("2026-03-29T02:30", c.Today())
	if !isUsage(err) || err.Error() != "there is no 2026-03-29T02:30 on Sun 29 Mar 2026 in Europe/Berlin: the clocks are put forward over it" {
		t.Errorf("in the gap: %v", err)
	}
	_, err = c.At("2026-10-25T02:30", c.Today())
	if !isUsage(err) || !strings.HasSuffix(err.Error(), "say 2026-10-25T02:30+02:00 or 2026-10-25T02:30+01:00") {
		t.Errorf("in the overlap: %v", err)
	}
	day := Date{2026, time.October, 25}
	first := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)
	if got := c.Span(first, first.Add(time.Hour), day); got != "02:30 CEST-02:30 CET" {
		t.Errorf("the hour that comes twice is %s", got)
	}
}

// A day begins where the one before it ends, wherever and whenever.
func TestDaysFollowEachOther(t *testing.T) {
	for zone, days := range map[string]map[string]time.Duration{
		"Europe/Berlin":       {"2026-03-29": 23 * time.Hour, "2026-10-25": 25 * time.Hour, "2026-11-23": 24 * time.Hour},
		"America/Santiago":    {"2026-09-06": 23 * time.Hour, "2026-04-04": 25 * time.Hour}, // at midnight
		"Africa/Cairo":        {"2026-04-24": 23 * time.Hour},
		"America/Havana":      {"2026-11-01": 25 * time.Hour, "2026-03-08": 23 * time.Hour},
		"Australia/Lord_Howe": {"2026-10-04": 23*time.Hour + 30*time.Minute, "2026-04-05": 24*time.Hour + 30*time.Minute},
		"Asia/Kathmandu":      {"2026-10-04": 24 * time.Hour},
	} {
		c := clockIn(t, zone, "2026-01-01T00:00:00Z")
		for word, want := range days {
			d, err := c.Day(word)
			if err != nil {
				t.Fatal(err)
			}
			begin, end := d.Begins(c.Zone), d.Ends(c.Zone)
			if end.Sub(begin) != want || DateOf(begin, c.Zone) != d || DateOf(begin.Add(-1), c.Zone) == d {
				t.Errorf("%s %s begins %s, ends %s, want %s", zone, word, begin, end, want)
			}
		}
	}
}

// What is said of a time is read back as that time.
func TestSaidIsRead(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"}
	rapid.Check(t, func(r *rapid.T) {
		c := clockIn(t, rapid.SampledFrom(zones).Draw(r, "zone"), "2026-03-01T09:00:00Z")
		at := c.Now.Add(time.Duration(rapid.IntRange(0, 366*24*60).Draw(r, "minutes")) * time.Minute)
		day := DateOf(at, c.Zone)
		said := c.Say(at, day)
		got, err := c.At(said, day)
		switch {
		case err == nil && !got.Equal(at):
			r.Fatalf("%s on %s is read as %s, was %s", said, day, got, at)
		case err != nil && !strings.Contains(said, " "):
			r.Fatalf("%s on %s: %v", said, day, err)
		}
		if b := day.Begins(c.Zone); b.After(at) || !day.Ends(c.Zone).After(at) {
			r.Fatalf("%s is not within its day from %s", at, b)
		}
	})
}

func TestSay(t *testing.T) {
	c := clockIn(t, "Europe/Berlin", "2026-11-23T09:07:00Z")
	day := c.Today()
	for at, want := range map[string]string{
		"2026-11-23T13:00:00Z": "14:00", "2026-11-24T13:00:00Z": "Tue 14:00", "2026-11-22T13:00:00Z": "Sun 14:00",
		"2026-12-24T13:00:00Z": "Thu 24 Dec 14:00", "2027-01-24T13:00:00Z": "Sun 24 Jan 2027 14:00",
	} {
		moment, _ := time.Parse(time.RFC3339, at)
		if got := c.Say(moment, day); got != want {
			t.Errorf("%s is said as %s, want %s", at, got, want)
		}
	}
	evening := time.Date(2026, 11, 23, 21, 0, 0, 0, time.UTC)
	for length, want := range map[time.Duration]string{time.Hour: "22:00-23:00", 2 * time.Hour: "22:00-24:00", 3 * time.Hour: "22:00-Tue 01:00"} {
		if got := c.Span(evening, evening.Add(length), day); got != want {
			t.Errorf("%s: %s, want %s", length, got, want)
		}
	}
}

func FuzzTimes(f *testing.F) {
	for _, seed := range []string{"14:00", "24:00", "now", "+30m", "2026-11-23T14:00", "2026-11-23T14:00:00+01:00", "monday", "1h30m", "2026-10-25T02:30"} {
		f.Add(seed)
	}
	c := clockIn(f, "Europe/Berlin", "2026-11-23T09:07:00Z")
	f.Fuzz(func(t *testing.T, word string) {
		if d, err := c.Day(word); err == nil {
			if again, err := c.Day(d.hour(0, time.UTC).Format(time.DateOnly)); d.year > 0 && (err != nil || again != d) {
				t.Errorf("%q is %v, read again %v, %v", word, d, again, err)
			}
		} else if !isUsage(err) {
			t.Errorf("%q: %v", word, err)
		}
		if _, err := c.At(word, c.Today()); err != nil && !isUsage(err) {
			t.Errorf("%q: %v", word, err)
		}
		if d, err := ParseLength(word); err == nil && (d < time.Minute || d%time.Minute != 0) {
			t.Errorf("%q is %s", word, d)
		}
	})
}

// What is to be shown from when: a length before now, a day, or a time that was.
func TestSince(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	c := Clock{Zone: zone, Now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)} // Monday, 13:00 there
	for word, want := range map[string]string{
		"-2h": "2026-11-23T10:00:00Z", "-2d": "2026-11-21T12:00:00Z", "12:30": "2026-11-23T11:30:00Z", "14:00": "2026-11-22T13:00:00Z",
		"today": "2026-11-22T23:00:00Z", "yesterday": "2026-11-21T23:00:00Z", "friday": "2026-11-19T23:00:00Z", "monday": "2026-11-22T23:00:00Z",
		"2026-11-20": "2026-11-19T23:00:00Z", "2026-11-20 08:15": "2026-11-20T07:15:00Z", "2026-11-21T08:00:00Z": "2026-11-21T08:00:00Z", "2026-11-21T08:00:00+02:00": "2026-11-21T06:00:00Z",
	} {
		if got, err := c.Since(word); err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v, want %s", word, got.UTC(), err, want)
		}
	}
	for _, word := range []string{"lately", "-", "25:00", "2026-13-01"} {
		if got, err := c.Since(word); err == nil {
			t.Errorf("%s is %v", word, got)
		}
	}
}
