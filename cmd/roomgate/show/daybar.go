package show

import (
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/agent/booking"
	"roomgate/agent/loop"
)

// DayBar draws one local day of a space: what time it is on top, the bookings
// in the middle, where we are below.
//
//	07  08  09  10  11  12  13  14  15  16  17  18  19
//	········▐▓▓▓▐███····························░░······
//	              ▲ 10:37
type DayBar struct {
	Clock Clock
	Day   Date
	Grid  time.Duration // the space's slot
	Style Style
}

// Style is what the terminal can show.
type Style struct {
	Blocks bool // else ASCII only
	Colour bool
	Width  int // columns
}

// The hours that are drawn at least.
const (
	firstHour = 7
	lastHour  = 20
)

// glyph is how a cell looks: in blocks, in ASCII, and its colour, which is
// that of the ring at the door.
type glyph struct {
	block, ascii, colour string
}

var (
	freeCell  = glyph{"·", ".", "32"}
	firstCell = glyph{"▐", "[", ""} // where a booking begins; in its colour
	nowMark   = glyph{"▲", "^", "1"}
	cells     = map[booking.State]glyph{
		booking.Booked:    {"▓", "=", "33"},
		booking.CheckedIn: {"█", "#", "31"},
		booking.Ended:     {"░", "-", "2"},
	}
)

// StyleOf is what a command can show on its standard output, by the environment
// and by the terminal, where there is one.
func StyleOf(out io.Writer) Style {
	s := Style{Blocks: speaksUTF8(os.Getenv), Width: 80}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	file := FileOf(out)
	if file == nil {
		return s
	}
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return s // a file or a pipe
	}
	s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if size.Col > 0 {
		s.Width = int(size.Col)
	}
	return s
}

// speaksUTF8 asks the locale as the C library does: the first one that is set
// counts.
func speaksUTF8(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToUpper(env(name)); value != "" {
			return strings.Contains(value, "UTF-8") || strings.Contains(value, "UTF8")
		}
	}
	return false
}

// Draw returns the bar, with a newline behind each row.
func (d DayBar) Draw(all []booking.Booking) string {
	from, until := d.window(all)
	step := d.step(until.Sub(from))
	n := int((until.Sub(from) + step - 1) / step)
	rows := d.hours(from, step, n) + "\n" + d.row(all, from, step, n) + "\n"
	if now := d.Clock.Now; d.isToday() && !now.Before(from) && now.Before(until) {
		rows += d.marker(int(now.Sub(from)/step), n) + "\n"
	}
	return rows
}

func (d DayBar) isToday() bool { return d.Clock.Today() == d.Day }

// drawn says whether a booking has a place in the bar: it holds its time, or
// held it.
func drawn(b booking.Booking) bool {
	return b.Live() || b.State == booking.Ended && b.End.After(b.Start)
}

// window is what is drawn of the day: the usual hours, and those of its
// bookings, in full hours.
func (d DayBar) window(all []booking.Booking) (from, until time.Time) {
	begin, end := d.Day.Begins(d.Clock.Zone), d.Day.Ends(d.Clock.Zone)
	from, until = d.Day.hour(firstHour, d.Clock.Zone), d.Day.hour(lastHour, d.Clock.Zone)
	widen := func(start, stop time.Time) {
		if start.Before(from) {
			from = start
		}
		if stop.After(until) {
			until = stop
		}
	}
	for _, b := range all {
		if drawn(b) && b.Overlaps(begin, end) {
			widen(b.Start, b.End)
		}
	}
	if d.isToday() {
		widen(d.Clock.Now, d.Clock.Now.Add(1))
	}
	from = from.Add(-pastHour(from, d.Clock.Zone))
	if past := pastHour(until, d.Clock.Zone); past > 0 {
		until = until.Add(time.Hour - past)
	}
	return loop.Later(from, begin), loop.Earlier(until, end)
}

// pastHour is how long ago the local clock showed a full hour.
func pastHour(t time.Time, zone *time.Location) time.Duration {
	local := t.In(zone)
	return time.Duration(local.Minute())*time.Minute + time.Duration(local.Second())*time.Second + time.Duration(local.Nanosecond())
}

// step is the time of one cell: the grid, or more where that is too wide.
func (d DayBar) step(length time.Duration) time.Duration {
	for _, minutes := range []time.Duration{5, 10, 15, 30} {
		step := minutes * time.Minute
		if step >= min(max(d.Grid, 5*time.Minute), quarter) && int(length/step) < d.Style.Width {
			return step
		}
	}
	return time.Hour
}

// hours are the local hours above the cells in which they begin. They go by
// what the clock shows, so a day whose clocks change skips one or has it twice.
func (d DayBar) hours(from time.Time, step time.Duration, n int) string {
	var row []byte
	last := -1
	for i := range n {
		h, m, _ := from.Add(time.Duration(i) * step).In(d.Clock.Zone).Clock()
		minute := h*60 + m
		begins := last < 0 || minute <= last || minute/60 != last/60
		last = minute
		if begins && (i == 0 || i > len(row)) && i+2 <= max(n, 2) {
			row = append(row, strings.Repeat(" ", i-len(row))...)
			row = append(row, twoDigits(h)...)
		}
	}
	return string(row)
}

func twoDigits(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }

// row is the cells. Each shows the booking that has most of it.
func (d DayBar) row(all []booking.Booking, from time.Time, step time.Duration, n int) string {
	var row strings.Builder
	colour, before := "", ""
	for i := range n {
		start := from.Add(time.Duration(i) * step)
		g := freeCell
		b, taken := most(all, start, start.Add(step))
		if taken {
			g = cells[b.State]
		}
		if taken && b.ID != before {
			g.block, g.ascii = firstCell.block, firstCell.ascii
		}
		before = b.ID
		if d.Style.Colour && g.colour != colour {
			row.WriteString("\x1b[0;" + g.colour + "m")
			colour = g.colour
		}
		row.WriteString(d.Style.char(g))
	}
	if colour != "" {
		row.WriteString("\x1b[0m")
	}
	return row.String()
}

// most is the booking that has most of an interval.
func most(all []booking.Booking, start, end time.Time) (found booking.Booking, ok bool) {
	best := time.Duration(0)
	for _, b := range all {
		if !drawn(b) {
			continue
		}
		if share := loop.Earlier(b.End, end).Sub(loop.Later(b.Start, start)); share > best {
			best, found, ok = share, b, true
		}
	}
	return found, ok
}

func (s Style) char(g glyph) string {
	if s.Blocks {
		return g.block
	}
	return g.ascii
}

func (s Style) paint(text, colour string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[0;" + colour + "m" + text + "\x1b[0m"
}

// marker points at the cell in which we are.
func (d DayBar) marker(cell, n int) string {
	point, clock := d.Style.char(nowMark), d.Clock.Time(d.Clock.Now)
	if cell+1+len(clock) >= max(n, d.Style.Width) && cell > len(clock) {
		return strings.Repeat(" ", cell-1-len(clock)) + d.Style.paint(clock+" "+point, nowMark.colour)
	}
	return strings.Repeat(" ", cell) + d.Style.paint(point+" "+clock, nowMark.colour)
}
