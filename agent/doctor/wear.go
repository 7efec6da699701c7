package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/health"
)

const (
	// writesPerDay is how much a gateway may write before its card is at
	// risk, in bytes. A card of 8 GB with 1000 cycles lasts ten years with it.
	writesPerDay = 2 << 30
	// tellsAfter is how long it must run before a rate says anything.
	tellsAfter = 10 * time.Minute
)

// wear examines the cards and what the gateway writes to them.
func wear(_ context.Context, x *examination) (found []Finding) {
	for _, card := range x.below("sys/block", "mmcblk*") {
		if !strings.Contains(card, "boot") && !strings.Contains(card, "rpmb") {
			found = append(found, x.card(card))
		}
	}
	if len(found) == 0 {
		found = one(good("card wear", "no card: nothing here that flash wears out is known"))
	}
	return append(found, x.written())
}

// card reads what an eMMC says of itself (JEDEC JESD84-B51, EXT_CSD 267 to
// 269; kernel, Documentation/driver-api/mmc/mmc-dev-attrs.rst).
func (x *examination) card(card string) Finding {
	name := "card " + card
	dir := "sys/block/" + card + "/device/"
	what := strings.TrimSpace(x.read(dir+"type") + " " + x.read(dir+"name"))
	life := strings.Fields(x.read(dir + "life_time"))
	if len(life) == 0 {
		return good(name, "%s: a card that does not tell its wear", what)
	}
	used := uint64(0)
	for _, l := range life {
		n, _ := strconv.ParseUint(l, 0, 8)
		used = max(used, n)
	}
	end, _ := strconv.ParseUint(x.read(dir+"pre_eol_info"), 0, 8)
	seen := fmt.Sprintf("%s: %s, %s", what, lifetime(used), spare(end))
	const fix = "take a backup with sudo roomgate backup, then replace the card"
	switch {
	case used > 10 || end == 3:
		return fail(name, seen, fix)
	case used >= 9 || end == 2:
		return warn(name, seen, fix)
	}
	return good(name, "%s", seen)
}

// lifetime is a device life time estimation in words: steps of a tenth.
func lifetime(n uint64) string {
	switch {
	case n == 0:
		return "life time not told"
	case n > 10:
		return "life time used up"
	}
	return fmt.Sprintf("%d to %d %% of its life time used", (n-1)*10, n*10)
}

// spare is the pre-EOL information in words.
func spare(n uint64) string {
	words := []string{"spare blocks not told", "spare blocks normal", "80 % of the spare blocks used", "90 % of the spare blocks used"}
	if n >= uint64(len(words)) {
		n = 0
	}
	return words[n]
}

// lasts is an estimate in years in words.
func lasts(years float64) string {
	switch {
	case years < 1:
		return "less than a year"
	case years >= 100:
		return "100 years or more"
	}
	return fmt.Sprintf("%.0f years", years)
}

// written is what the gateway itself writes.
func (x *examination) written() Finding {
	const name = "bytes written"
	if x.Building == nil {
		return good(name, "not known while no gateway runs")
	}
	up := time.Duration(x.Building.UptimeS) * time.Second
	total := uint64(max(x.Building.StoreWritten, 0))
	if up < tellsAfter {
		return good(name, "%s in %v, too early for a rate", size(total), up)
	}
	pace, _ := health.BytesPerDay(x.Building.UptimeS, x.Building.StoreWrittenDay)
	if pace == 0 { // a gateway of an earlier version counts from its start only
		pace = float64(total) / up.Hours() * 24
	}
	day := uint64(pace)
	seen := fmt.Sprintf("%s a day by the gateway, %s since its start %v ago", size(day), size(total), up)
	if c := x.Building.Card; c != nil {
		seen += fmt.Sprintf("; so %s with %s would last %s, as an estimate for 1000 writes of each block", c.Name, size(uint64(c.Bytes)), lasts(health.Estimate(c.Bytes, pace)))
	}
	if day > writesPerDay {
		return warn(name, seen, "raise store.flush, and run sudo roomgate events for a device that never rests")
	}
	return good(name, "%s", seen)
}
