package patch_test

import (
	"testing"

	"roomgate/agent/patch"
)

func TestWhatIsNotGivenStays(t *testing.T) {
	field, given := 1, 2
	if patch.Set(&field, nil); field != 1 {
		t.Errorf("nothing set %d", field)
	}
	if patch.Set(&field, &given); field != 2 {
		t.Errorf("2 set %d", field)
	}
	var kept *int
	if patch.Keep(&kept, &given); kept != &given {
		t.Errorf("2 kept %v", kept)
	}
	if patch.Keep(&kept, nil); kept != &given {
		t.Errorf("nothing kept %v", kept)
	}
}
