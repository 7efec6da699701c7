package setup

import (
	"errors"
	"testing"
)

// TestMeant: what was probably meant is offered, and only where that is clear.
func TestMeant(t *testing.T) {
	for _, c := range []struct {
		check         func(string) error
		said, instead string
	}{
		{Zone, "Berlin", "Europe/Berlin"}, {Zone, "berlin", "Europe/Berlin"}, {Zone, "New York", "America/New_York"}, {Zone, "Europe/Berln", "Europe/Berlin"}, {Zone, "Nowhere", ""}, {Zone, "Atlas", ""}, {Zone, "Frankfurt", ""}, {Zone, "Amsterdm", "Europe/Amsterdam"},
		{BrokerAddress, "cloud.example.com", "mqtts://cloud.example.com:8883"}, {BrokerAddress, "cloud.example.com:8884", "mqtts://cloud.example.com:8884"},
		{BrokerAddress, "https://cloud.example.com/", "mqtts://cloud.example.com:8883"}, {BrokerAddress, "ssl://10.0.0.5:8883", "mqtts://10.0.0.5:8883"},
		{BrokerAddress, "10.0.0.5:1883", "mqtt://10.0.0.5:1883"}, {BrokerAddress, "tcp://10.0.0.5", "mqtt://10.0.0.5:1883"}, {BrokerAddress, "yes", ""}, {BrokerAddress, "mqtts://user:secret@c.example.com", ""},
		{hubAddress, "10.0.0.31", "10.0.0.31:1883"}, {hubAddress, "hub.local", "hub.local:1883"}, {hubAddress, "10.0.0.31:x", ""},
		{pictureURL, "10.0.0.40/snapshot.jpg", "http://10.0.0.40/snapshot.jpg"}, {pictureURL, "camera", ""},
		{GatewayID, "Berlin 3", "berlin-3"},
	} {
		err := c.check(c.said)
		var near *Meant
		if errors.As(err, &near); err == nil || near == nil != (c.instead == "") || near != nil && near.Instead != c.instead {
			t.Errorf("%q: %v, want %q", c.said, err, c.instead)
		}
		if near != nil {
			if err := c.check(near.Instead); err != nil {
				t.Errorf("%q is offered and refused: %v", near.Instead, err)
			}
		}
	}
	for _, right := range []string{"mqtts://a.example.com", "mqtts://a.example.com,mqtts://b.example.com:8884"} {
		if err := BrokerAddress(right); err != nil {
			t.Errorf("%s: %v", right, err)
		}
	}
}

// TestSameIDs: rooms are told apart by what an id has of their names, and by all of a name that has
// no letter for one.
func TestSameIDs(t *testing.T) {
	for pair, want := range map[[2]string]bool{{"Atlas", "atlas!"}: true, {"Atlas", "Bora"}: false, {"会議室", "応接室"}: false, {"会議室", "会議室"}: true, {"会議室 1", "応接室 1"}: true} {
		if got := SameIDs(pair[0], pair[1]); got != want {
			t.Errorf("%q and %q: %v", pair[0], pair[1], got)
		}
	}
	if got := DeviceID("会議室", "lock"); GatewayID(got) != nil || got == "room-lock" {
		t.Errorf("the id is %q", got)
	}
}
