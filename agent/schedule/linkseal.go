package schedule

import (
	"context"
	"errors"

	"roomgate/agent/auth"
	"roomgate/store"
)

// lostLink is what is said of a calendar whose address cannot be read.
const lostLink = "its address was stored under another device secret: link the calendar again; its bookings stay until then"

// linkPlace is what a sealed address is bound to.
func linkPlace(spaceID string) string { return "calendar/" + spaceID }

// link makes a plan follow the calendar at url, empty for none. The address of a
// calendar is often all that somebody needs to read it, so it is encrypted under
// the device secret: a copy of the database alone does not tell it.
func (p storedPlan) link(keys *auth.Keys, spaceID, url string) storedPlan {
	none := ""
	p.Calendar, p.Sealed = &none, nil
	if url != "" {
		p.Calendar, p.Sealed = nil, keys.Seal(linkPlace(spaceID), []byte(url))
	}
	return p
}

// linked is the address that a plan names; nil: none, it is as configured. One
// that was sealed under another secret is an error. It is kept, in case that
// secret comes back.
func (p storedPlan) linked(keys *auth.Keys, spaceID string) (*string, error) {
	if len(p.Sealed) == 0 {
		return p.Calendar, nil
	}
	text, err := keys.Open(linkPlace(spaceID), p.Sealed)
	url := string(text)
	return &url, err
}

// SealLinks seals the addresses of calendars that an earlier version has stored
// as they are, also of spaces that are gone. On a disk that does not take them the next start
// does it. Older snapshots have them, and pages of the file that are not used again
// yet: who may have read those is kept out by another address of the calendar.
func (bk *Book) SealLinks(ctx context.Context) error {
	plain := map[string]storedPlan{}
	err := bk.o.DB.View(func(tx *store.Tx) error {
		for id, p := range plans.All(tx) {
			if p.Calendar != nil && *p.Calendar != "" {
				plain[id] = p.link(bk.o.Keys, id, *p.Calendar)
			}
		}
		return nil // a row that cannot be read is told of by who needs it
	})
	if err != nil || len(plain) == 0 {
		return err
	}
	err = bk.o.DB.Update(ctx, func(tx *store.Tx) (err error) {
		for id, p := range plain {
			err = errors.Join(err, plans.Put(tx, id, p))
		}
		return err
	})
	if store.Unstored(err) {
		bk.o.Log.Error("cannot seal the addresses of calendars, the next start tries again: see roomgate doctor", "error", err)
		return nil
	}
	return err
}
