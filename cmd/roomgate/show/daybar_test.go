package show

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"roomgate/agent/booking"
)

// on books a room: "10:00-11:00 checked_in" of the day.
func on(t testing.TB, c Clock, day Date, texts ...string) (all []booking.Booking) {
	t.Helper()
	for i, text := range texts {
		times, state, _ := strings.Cut(text, " ")
		from, until, _ := strings.Cut(times, "-")
		start, err1 := c.At(from, day)
		end, err2 := c.At(until, day)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		all = append(all, booking.Booking{ID: strconv.Itoa(i + 1), State: booking.State(state), Start: start, End: end})
	}
	return all
}

func TestDayBar(t *testing.T) {
	blocks, ascii := Style{Blocks: true, Width: 80}, Style{Width: 80}
	for name, c := range map[string]struct {
		now, day string
		style    Style
		bookings []string
		want     string
	}{
		"a day": {"2026-11-23T09:37:00Z", "", blocks, []string{"09:00-10:00 checked_in", "10:00-11:30 booked", "08:00-08:30 ended", "12:00-13:00 cancelled"}, `
07  08  09  10  11  12  13  14  15  16  17  18  19
····▐░··▐███▐▓▓▓▓▓··································
              ▲ 10:37
`},
		"the same in ASCII": {"2026-11-23T09:37:00Z", "", ascii, []string{"09:00-10:00 checked_in", "10:00-11:30 booked", "08:00-08:30 ended", "12:00-13:00 cancelled"}, `
07  08  09  10  11  12  13  14  15  16  17  18  19
....[-..[###[=====..................................
              ^ 10:37
`},
		"nothing on another day": {"2026-11-23T09:37:00Z", "tomorrow", ascii, nil, `
07  08  09  10  11  12  13  14  15  16  17  18  19
....................................................
`},
		"early and late": {"2026-11-23T09:37:00Z", "tomorrow", ascii, []string{"05:45-06:15 booked", "23:30-24:00 booked"}, `
05  06  07  08  09  10  11  12  13  14  15  16  17  18  19  20  21  22  23
...[=.....................................................................[=
`},
		"now is late": {"2026-11-23T22:50:00Z", "", Style{Width: 70}, nil, `
07  08  09  10  11  12  13  14  15  16  17  18  19  20  21  22  23
....................................................................
                                                             23:50 ^
`},
		"a phone": {"2026-11-23T09:37:00Z", "", Style{Width: 40}, []string{"09:00-10:00 checked_in", "10:00-11:30 booked"}, `
07  09  11  13  15  17  19
....[#[==.................
       ^ 10:37
`},
		"a watch": {"2026-11-23T09:37:00Z", "", Style{Width: 20}, []string{"09:00-10:00 checked_in", "10:00-11:30 booked"}, `
07 10 13 16
..[[=........
   ^ 10:37
`},
		"off the grid": {"2026-11-23T09:37:00Z", "tomorrow", ascii, []string{"09:05-09:20 booked", "09:20-09:24 booked", "09:24-10:00 booked"}, `
07  08  09  10  11  12  13  14  15  16  17  18  19
........[[==........................................
`},
	} {
		clock := clockIn(t, "Europe/Berlin", c.now)
		day, err := clock.Day(c.day)
		if err != nil {
			t.Fatal(err)
		}
		bar := DayBar{clock, day, quarter, c.style}
		if got := "\n" + bar.Draw(on(t, clock, day, c.bookings...)); got != c.want {
			t.Errorf("%s:%swant:%s", name, got, c.want)
		}
	}
}

// Where the clocks change, the hours say so and a meeting keeps its length.
func TestDayBarWhenClocksChange(t *testing.T) {
	clock := clockIn(t, "Europe/Berlin", "2026-01-01T09:00:00Z")
	for _, c := range []struct {
		day, hours string
		cells      int // of a booking from one to four
	}{
		{"2026-03-29", "01  03  04  05  06  07  08  09  10  11  12  13  14  15  16  17  18  19", 8},
		{"2026-10-25", "01  02  02  03  04  05  06  07  08  09  10  11  12  13  14  15  16  17  18  19", 16},
	} {
		day, _ := clock.Day(c.day)
		bar := DayBar{clock, day, quarter, Style{Width: 90}}
		got := bar.Draw(on(t, clock, day, "01:00-04:00 booked"))
		want := c.hours + "\n[" + strings.Repeat("=", c.cells-1) + strings.Repeat(".", 16*4) + "\n"
		if got != want {
			t.Errorf("%s:\n%swant:\n%s", c.day, got, want)
		}
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Whatever is booked wherever: the rows are no wider than the terminal, colour
// adds nothing but colour, and each cell that is taken as a whole is drawn so.
func TestDayBarHolds(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"}
	rapid.Check(t, func(r *rapid.T) {
		clock := clockIn(t, rapid.SampledFrom(zones).Draw(r, "zone"), "2026-01-01T09:00:00Z")
		day := clock.Today().Add(rapid.IntRange(0, 400).Draw(r, "day"))
		clock.Now = day.Begins(clock.Zone).Add(time.Duration(rapid.IntRange(0, 22*60).Draw(r, "now")) * time.Minute)
		start := day.Begins(clock.Zone).Add(time.Duration(rapid.IntRange(-300, 25*60).Draw(r, "start")) * time.Minute)
		b := booking.Booking{ID: "x", State: booking.Booked, Start: start, End: start.Add(time.Duration(rapid.IntRange(60, 600).Draw(r, "length")) * time.Minute)}
		bar := DayBar{clock, day, time.Duration(rapid.SampledFrom([]int{5, 15, 45, 240}).Draw(r, "grid")) * time.Minute,
			Style{Blocks: rapid.Bool().Draw(r, "blocks"), Width: rapid.IntRange(26, 200).Draw(r, "width")}}
		plain := bar.Draw([]booking.Booking{b})
		for line := range strings.Lines(plain) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > bar.Style.Width {
				r.Fatalf("%d columns in a terminal of %d:\n%s", n, bar.Style.Width, plain)
			}
		}
		bar.Style.Colour = true
		if coloured := bar.Draw([]booking.Booking{b}); escape.ReplaceAllString(coloured, "") != plain || coloured == plain {
			r.Fatalf("%q is not %q", coloured, plain)
		}
		inDay := b.Overlaps(day.Begins(clock.Zone).Add(time.Hour), day.Ends(clock.Zone).Add(-time.Hour))
		if inDay && !strings.ContainsAny(plain, "▐[") {
			r.Fatalf("%s to %s is not in\n%s", b.Start.In(clock.Zone), b.End.In(clock.Zone), plain)
		}
	})
}

func TestLocale(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", false}, {"", "", "de_DE.UTF-8", true}, {"C", "", "de_DE.UTF-8", false}, {"", "en_GB.utf8", "C", true}, {"", "", "POSIX", false},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		if got := speaksUTF8(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
