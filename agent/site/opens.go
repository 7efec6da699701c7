package site

import "roomgate/drivers"

// Opens names what of a change may let somebody in, spaces or devices; empty:
// nothing does. Any device counts, as a light may be put on the line of a lock; a
// space that has a lock now counts, as it may be given to others.
func (c *Change) Opens() (part string) {
	for key := range c.edits {
		if isDevice(key) {
			return "devices"
		}
		for _, s := range c.was.order {
			if spaceKey(s.ID) == key && s.OfType(drivers.TypeLock) != nil {
				part = "spaces"
			}
		}
	}
	return part
}
