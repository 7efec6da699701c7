package doctor

import (
	"testing"

	"roomgate/agent/health"
)

func TestContested(t *testing.T) {
	x := &examination{Options: Options{Building: &Building{Identity: health.Identity{ID: "berlin-3"}}}}
	if found := x.contested(); found != nil {
		t.Errorf("alone: %v", found)
	}
	x.Building.CloudContested = 7
	x.contested()[0].is(t, "two with one id", Fail, "another gateway probably uses the id berlin-3: the broker has closed the last 7 connections")
}
