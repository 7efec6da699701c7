package health

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cycles is how often each block of a card is assumed to bear being written, of
// one that does not tell: the usual figure for TLC flash. The card's own writes
// are not known and not counted.
const cycles = 1000

// Card is the disk below the data folder, and how it wears.
type Card struct {
	Name  string `json:"name"`       // as the kernel calls it, like mmcblk0
	Bytes int64  `json:"size_bytes"` // how large it is
	// UsedPercent is how much of its life time the card says is used, at the most;
	// null: it does not tell.
	UsedPercent *int `json:"life_used_percent"`
	// YearsEstimate is how many years it lasts in all at the pace of the last day,
	// as an estimate for 1000 writes of each block; null: too early for a pace.
	YearsEstimate *float64 `json:"life_years_estimate"`
}

// Estimate works out how long a card of so many bytes lasts at so many bytes a day.
func Estimate(size int64, perDay float64) (years float64) {
	if perDay <= 0 {
		return longest
	}
	return math.Min(math.Round(float64(size)*cycles/perDay/365*10)/10, longest)
}

// longest is where an estimate ends, in years: nobody can tell more.
const longest = 100

// BytesPerDay is the pace at which a gateway wrote that has been up for so many
// seconds; known is false in the first ten minutes.
func BytesPerDay(uptimeS, inDay int64) (pace float64, known bool) {
	if uptimeS < 600 {
		return 0, false
	}
	return float64(inDay) * 86400 / float64(min(uptimeS, 86400)), true
}

// cardBelow finds the disk of a folder: the block device, or the one that it is
// a part of (sysfs-block). nil: it is not on one, as in a container or memory.
func cardBelow(root, dir string) *Card {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return nil
	}
	return cardOf(root, fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))))
}

// cardOf is the disk with that number, or the one that the part with that number is on.
func cardOf(root, number string) *Card {
	dev, err := filepath.EvalSymlinks(filepath.Join(root, "sys/dev/block", number))
	if err != nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dev, "partition")); err == nil {
		dev = filepath.Dir(dev)
	}
	sectors, err := strconv.ParseInt(text(filepath.Join(dev, "size")), 10, 64)
	if err != nil || sectors <= 0 {
		return nil
	}
	return &Card{Name: filepath.Base(dev), Bytes: sectors * 512, UsedPercent: usedPercent(text(filepath.Join(dev, "device/life_time")))}
}

// usedPercent reads what an eMMC says of its life time: for each kind of its
// memory the tenth that is under way, 0xb once it is over (JEDEC JESD84-B51,
// EXT_CSD 268 and 269).
func usedPercent(life string) *int {
	most := 0
	for _, l := range strings.Fields(life) {
		n, _ := strconv.ParseUint(l, 0, 8)
		most = max(most, int(n))
	}
	if most == 0 || most > 11 {
		return nil
	}
	percent := min(most*10, 100)
	return &percent
}

// text is a file of the kernel without its end of line, empty if there is none.
func text(name string) string {
	raw, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// at is the card with its estimate.
func (c Card) at(uptimeS, inDay int64) *Card {
	if pace, known := BytesPerDay(uptimeS, inDay); known {
		years := Estimate(c.Bytes, pace)
		c.YearsEstimate = &years
	}
	return &c
}
