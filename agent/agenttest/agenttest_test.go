package agenttest

import (
	"testing"

	"go.uber.org/goleak"

	"roomgate/agent/device"
	"roomgate/drivers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryDeviceOfTheDemoAnswers(t *testing.T) {
	b := Start(t, Options{})
	for _, id := range []string{Aurora, Borealis} {
		Await(t, "every device online", func() bool {
			known, err := b.Site.StatusAll(id)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range known {
				if r.Status == device.Offline {
					return false
				}
			}
			return true
		})
	}
	receipt, err := b.Commands.Do(t.Context(), device.Command{Space: Aurora, DeviceType: drivers.TypeLock, Action: drivers.ActOpen, Via: device.ViaCLI})
	if err != nil || receipt.State != device.Done || receipt.Evidence.Value != drivers.Open || receipt.Evidence.Source == drivers.SourceCommand {
		t.Errorf("opening the door: %+v, %v, want done with a read-back", receipt, err)
	}
}

func TestUnpluggedHubHurtsNobodyElse(t *testing.T) {
	b := Start(t, Options{})
	if _, err := b.World.Control("aurora", "o3-sensor", "unplug"); err != nil {
		t.Fatal(err)
	}
	for _, sub := range drivers.SubDevices(drivers.TypeO3) {
		Await(t, sub+" offline", func() bool {
			r, err := b.Site.Status(Aurora, drivers.TypeO3, sub)
			return err == nil && r.Status == device.Offline
		})
	}
	for _, r := range func() []device.Reading { all, _ := b.Site.StatusAll(Borealis); return all }() {
		if r.Status == device.Offline {
			t.Errorf("%s in the other room is offline: %s", r.Device, r.Reason)
		}
	}
	if _, err := b.World.Control("aurora", "o3-sensor", "plug"); err != nil {
		t.Fatal(err)
	}
	Await(t, "temperature back", func() bool {
		r, err := b.Site.Status(Aurora, drivers.TypeO3, drivers.SubTemperature)
		return err == nil && r.Status == device.Normal
	})
}
