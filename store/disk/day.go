package disk

import "time"

// Day counts the bytes that were given to the disk in the last 24 hours, by the hour, in time that passes whatever the
// clock shows. See NewDay; it belongs to one goroutine at a time.
type Day struct {
	began time.Time // with a monotonic reading
	hours [24]int64
	hour  int64 // since began, of the last bytes
}

// NewDay begins to count.
func NewDay() Day { return Day{began: time.Now()} }

// turn empties the hours that have passed since bytes were last counted.
func (d *Day) turn() {
	now := int64(time.Since(d.began) / time.Hour)
	for ; d.hour < now; d.hour++ {
		if now-d.hour > int64(len(d.hours)) {
			d.hour = now - int64(len(d.hours))
		}
		d.hours[(d.hour+1)%int64(len(d.hours))] = 0
	}
}

// Add counts n bytes now.
func (d *Day) Add(n int64) {
	d.turn()
	d.hours[d.hour%int64(len(d.hours))] += n
}

// Sum is how many there were in the last 24 hours.
func (d *Day) Sum() (n int64) {
	d.turn()
	for _, h := range d.hours {
		n += h
	}
	return n
}
