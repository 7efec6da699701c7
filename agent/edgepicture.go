package agent

import (
	"time"

	"roomgate/drivers"
)

// KeepPicture takes a picture of a space's room display that nobody asked for.
// It replaces the last one, and like all pictures is kept in memory only.
func (a *Agent) KeepPicture(spaceID string, p *drivers.Picture) error {
	d, err := a.device(spaceID, drivers.TypeDisplay)
	if err != nil {
		return err
	}
	if !d.live().Enabled {
		return errDisabled()
	}
	d.picture.Store(&takenPicture{p, time.Now()})
	return nil
}
