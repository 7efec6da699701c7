package doctor

import (
	"context"
	"fmt"
	"strings"

	disks "roomgate/store/disk"
)

// storage says that the disk does not take what the running gateway has to store.
func storage(_ context.Context, x *examination) []Finding {
	if x.Building == nil || x.Building.Degraded == nil {
		return nil
	}
	d := x.Building.Degraded
	seen, todo := "takes nothing since", "run sudo dmesg: a card that fails is replaced, with the last backup or this card's copy; roomgate starts again by itself "
	switch {
	case d.Storage == disks.Full && strings.HasPrefix(d.Reason, disks.NoReserve):
		seen, todo = "is almost full since", "make room on the disk of the data folder: bookings and doors go on, but on a full disk only memory has a command to a door"
	case d.Storage == disks.Full:
		seen, todo = "is full since", "make room on the disk of the data folder, or raise store.max_size; doors open meanwhile, bookings are refused"
	case d.Storage == disks.ReadOnly:
		seen, todo = "is read only since", todo+"about 3 minutes after the disk takes writes"
	default:
		todo += "about 3 minutes after the disk takes writes, and no sooner than 10 minutes after it failed"
	}
	return one(fail("storage", fmt.Sprintf("the disk %s %s: %s", seen, d.Since.Format("2006-01-02 15:04"), d.Reason), todo))
}
