package rule

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests
)

func zone(t testing.TB, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// fired are the local times at which a trigger is taken between two moments.
func fired(t *testing.T, text string, z *time.Location, from, to time.Time) (all []string) {
	times, err := ParseTime(text)
	if err != nil {
		t.Fatal(err)
	}
	for m := from; m.Before(to); m = m.Add(time.Minute) {
		for _, wall := range Walls(m, z) {
			if times.Match(wall) {
				all = append(all, m.In(z).Format("02 15:04 MST"))
				break
			}
		}
	}
	return all
}

func TestTimesOverClockChanges(t *testing.T) {
	berlin, howe := zone(t, "Europe/Berlin"), zone(t, "Australia/Lord_Howe")
	day := func(z *time.Location, m time.Month, d int) (time.Time, time.Time) {
		return time.Date(2026, m, d, 0, 0, 0, 0, z), time.Date(2026, m, d+1, 0, 0, 0, 0, z)
	}
	for name, c := range map[string]struct {
		text string
		z    *time.Location
		m    time.Month
		d    int
		want string
	}{
		"an ordinary day":               {"07:30", berlin, 6, 1, "[01 07:30 CEST]"},
		"forward, in the gap":           {"02:30", berlin, 3, 29, "[29 03:00 CEST]"},
		"forward, before the gap":       {"01:59", berlin, 3, 29, "[29 01:59 CET]"},
		"forward, after the gap":        {"03:00", berlin, 3, 29, "[29 03:00 CEST]"},
		"forward, many in the gap":      {"*/30 1-3 * * *", berlin, 3, 29, "[29 01:00 CET 29 01:30 CET 29 03:00 CEST 29 03:30 CEST]"},
		"back, in the hour there twice": {"02:30", berlin, 10, 25, "[25 02:30 CEST]"},
		"back, every half hour":         {"*/30 1-3 * * *", berlin, 10, 25, "[25 01:00 CEST 25 01:30 CEST 25 02:00 CEST 25 02:30 CEST 25 03:00 CET 25 03:30 CET]"},
		"half an hour forward":          {"02:15", howe, 10, 4, "[04 02:30 +11]"},
		"half an hour back":             {"01:45", howe, 4, 5, "[05 01:45 +11]"},
		"only on sundays":               {"0 9 * * 0", berlin, 3, 29, "[29 09:00 CEST]"},
		"only on sundays as 7":          {"0 9 * * 7", berlin, 3, 29, "[29 09:00 CEST]"},
		"not on sundays":                {"0 9 * * MON-FRI", berlin, 3, 29, "[]"},
		"the 13th or a sunday":          {"0 9 13 * SUN", berlin, 3, 29, "[29 09:00 CEST]"},
	} {
		from, to := day(c.z, c.m, c.d)
		if got := fmt.Sprint(fired(t, c.text, c.z, from, to)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Every minute on the wall comes once, in any zone: those of a year's first day,
// and of the days around each change of the clocks.
func TestWallsComeOnce(t *testing.T) {
	const day = 24 * time.Hour
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago", "Africa/Casablanca"} {
		z := zone(t, name)
		next := time.Time{}
		for from := time.Date(2026, 1, 1, 0, 0, 0, 0, z); from.Year() < 2027; from = from.Add(day) {
			_, before := from.Add(-day).Zone()
			if _, after := from.Add(2 * day).Zone(); before == after && from.YearDay() > 1 {
				next = time.Time{}
				continue
			}
			for m := from; m.Before(from.Add(day)); m = m.Add(time.Minute) {
				for _, wall := range Walls(m, z) {
					if !next.IsZero() && !wall.Equal(next) {
						t.Fatalf("%s: after %s comes %s", name, next.Add(-time.Minute), wall)
					}
					next = wall.Add(time.Minute)
				}
			}
		}
	}
}

func TestRefusedTimes(t *testing.T) {
	for _, text := range []string{"", "7:30", "24:00", "07:60", "07:30:00", "@every 1s", "@daily", "TZ=UTC 0 0 * * *", "* * * *", "* * * * * *",
		"61 * * * *", "0 0 30 2 *", "0 0 31 4,6 *", "a b c d e", "*/0 * * * *", "0 0 L * *", "H * * * *", strings.Repeat("1,", 60) + "1 * * * *"} {
		if _, err := ParseTime(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"07:30", "*/5 8-18 * * 1-5", "0 0 29 2 *", "0 0 1 JAN SUN", "1-3,7/2 * * * *"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		times, err := ParseTime(s)
		if err != nil {
			return
		}
		for h := range 24 {
			times.Match(time.Date(2028, 2, 29, h, 0, 0, 0, time.UTC))
		}
	})
}
