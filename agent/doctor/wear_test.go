package doctor

import (
	"testing"

	"roomgate/agent/health"
)

// TestWrittenInADay goes by the last day, and says how long the card would last.
func TestWrittenInADay(t *testing.T) {
	card := &health.Card{Name: "mmcblk0", Bytes: 8 << 30}
	for _, c := range []struct {
		since, day int64 // bytes
		card       *health.Card
		state      State
		words      string
	}{
		{900 << 30, 512 << 20, nil, OK, "512 MiB a day"},
		{900 << 30, 512 << 20, card, OK, "so mmcblk0 with 8.0 GiB would last 44 years, as an estimate for 1000 writes of each block"},
		{40 << 30, 30 << 30, card, Warn, "would last less than a year, as an estimate"},
		{40 << 30, 1 << 20, card, OK, "would last 100 years or more, as an estimate"},
		{40 << 30, 0, nil, Warn, "4.0 GiB a day"}, // an earlier version does not tell
	} {
		x := &examination{Options: Options{Building: &Building{Report: health.Report{UptimeS: 10 * 86400, StoreState: health.StoreState{StoreWritten: c.since, StoreWrittenDay: c.day, Card: c.card}}}}}
		x.written().is(t, c.words, c.state, c.words)
	}
}
