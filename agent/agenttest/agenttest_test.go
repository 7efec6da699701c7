package agenttest

import (
	"testing"

	"go.uber.org/goleak"

	"roomgate/agent"
	"roomgate/drivers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryDeviceOfTheDemoAnswers(t *testing.T) {
	b := Start(t, Options{})
	for _, id := range []string{Aurora, Borealis} {
		Await(t, "every device online", func() bool {
			known, err := b.StatusAll(id)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range known {
				if r.Status == agent.Offline {
					return false
				}
			}
			return true
		})
	}
	receipt, err := b.Do(t.Context(), agent.Command{Space: Aurora, DeviceType: drivers.TypeLock, Action: drivers.ActOpen, Via: agent.ViaCLI})
	if err != nil || receipt.State != agent.Done || receipt.Evidence.Value != drivers.Open || receipt.Evidence.Source == drivers.SourceOrder {
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
			r, err := b.Status(Aurora, drivers.TypeO3, sub)
			return err == nil && r.Status == agent.Offline
		})
	}
	for _, r := range func() []agent.Reading { all, _ := b.StatusAll(Borealis); return all }() {
		if r.Status == agent.Offline {
			t.Errorf("%s in the other room is offline: %s", r.Device, r.Reason)
		}
	}
	if _, err := b.World.Control("aurora", "o3-sensor", "plug"); err != nil {
		t.Fatal(err)
	}
	Await(t, "temperature back", func() bool {
		r, err := b.Status(Aurora, drivers.TypeO3, drivers.SubTemperature)
		return err == nil && r.Status == agent.Normal
	})
}
