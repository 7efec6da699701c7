package doctor

import (
	"strings"
	"testing"

	"roomgate/agent/claim"
	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/drivers"
)

// A gateway that waits for its claim is told apart from one that needs none.
func TestClaimed(t *testing.T) {
	x := &examination{}
	if found := claimed(t.Context(), x); found != nil {
		t.Errorf("without a gateway: %+v", found)
	}
	for _, state := range []string{claim.Off, ""} { // an older gateway does not tell
		x.Building = &Building{Claim: Claim{State: state}}
		if found := claimed(t.Context(), x); found != nil {
			t.Errorf("%q: %+v", state, found)
		}
	}
	x.Building.Claim = Claim{State: claim.Waiting}
	claimed(t.Context(), x)[0].is(t, "nobody's", Warn, "roomgate claim shows")
	x.Building.Claim = Claim{State: claim.Done, Organization: "Acme"}
	claimed(t.Context(), x)[0].is(t, "somebody's", OK, "belongs to Acme")
}

func TestDoorOrders(t *testing.T) {
	lock := []Device{{Type: drivers.TypeLock}}
	cloudy := &config.Config{Cloud: config.Cloud{URL: "mqtt://cloud"}}
	signed, unsigned := health.Report{DoorOrders: health.DoorsSigned}, health.Report{DoorOrders: health.DoorsUnsigned}
	held := signed
	held.SigningKeys = []string{"7177ac986170fa7a"}
	though := unsigned
	though.SigningKeys = held.SigningKeys
	for what, c := range map[string]struct {
		x     examination
		state State // empty: nothing is found
		seen  string
	}{
		"nobody answers":  {examination{}, "", ""},
		"no lock":         {examination{Options: Options{Config: cloudy, Building: &Building{Report: unsigned}}}, "", ""},
		"no cloud":        {examination{Options: Options{Config: &config.Config{}, Building: &Building{Report: unsigned, Devices: lock}}}, "", ""},
		"an earlier one":  {examination{Options: Options{Config: cloudy, Building: &Building{Devices: lock}}}, "", ""},
		"unsigned":        {examination{Options: Options{Config: cloudy, Building: &Building{Report: unsigned, Devices: lock}}}, Warn, "door orders unsigned"},
		"though it holds": {examination{Options: Options{Config: cloudy, Building: &Building{Report: though, Devices: lock}}}, Warn, "door orders unsigned"},
		"no key":          {examination{Options: Options{Config: cloudy, Building: &Building{Report: signed, Devices: lock}}}, Warn, "can open no door"},
		"signed":          {examination{Options: Options{Config: cloudy, Building: &Building{Report: held, Devices: lock}}}, OK, "7177ac986170fa7a"},
		"it refuses":      {examination{Options: Options{Building: &Building{Identity: health.Identity{Simulated: true}, Report: held, Devices: lock}}}, OK, "7177ac986170fa7a"},
		"a demo":          {examination{Options: Options{Building: &Building{Identity: health.Identity{Simulated: true}, Report: unsigned, Devices: lock}}}, OK, "door orders unsigned"},
	} {
		found := doorOrders(t.Context(), &c.x)
		switch {
		case c.state == "" && found != nil:
			t.Errorf("%s: %+v", what, found)
		case c.state != "" && (len(found) != 1 || found[0].State != c.state || !strings.Contains(found[0].Seen, c.seen) || c.state != OK && found[0].Fix == ""):
			t.Errorf("%s: %+v, want %s %q", what, found, c.state, c.seen)
		}
	}
}
