package doctor

import (
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/drivers/all"
)

func sharedIn(t *testing.T, c *config.Config) []Finding {
	t.Helper()
	x := &examination{Options: Options{Config: c, ConfigFile: "gateway.yaml"}}
	x.needs, x.wrong = survey(t.Context(), c, time.Second)
	return shared(t.Context(), x)
}

// One line for two doors opens both, and one device is never there.
func TestShared(t *testing.T) {
	c, err := config.Parse("gateway.yaml", []byte(`gateway: {id: a}
spaces:
  - id: 5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e01
    name: Atlas
    devices:
      - {id: atlas-lock, type: lock, driver: lock-relay, options: {relay: GPIO17, contact: GPIO18}}
      - {id: atlas-light, type: light, driver: light-pwm, options: {channel: pwmchip0/0}}
      - {id: atlas-o3, type: o3-sensor, driver: o3-parts, options: {bus: i2c-1, pir: GPIO22, buzzer: GPIO25, ring: spidev0.0}}
  - id: 5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e02
    name: Bora
    devices:
      - {id: bora-lock, type: lock, driver: lock-relay, options: {relay: GPIO17, contact: GPIO23, sense: GPIO23}}
      - {id: bora-light, type: light, driver: light-pwm, options: {channel: pwmchip0/1}}
      - {id: bora-o3, type: o3-sensor, driver: o3-parts, options: {bus: i2c-1, pir: GPIO24, buzzer: GPIO26, ring: spidev0.1}}
`), all.All())
	if err != nil {
		t.Fatal(err)
	}
	found := sharedIn(t, c)
	if len(found) != 2 || found[0].Name != "line GPIO17 twice" || found[1].Name != "line GPIO23 twice" {
		t.Fatalf("found %+v", found)
	}
	found[0].is(t, "two devices", Fail, "atlas-lock and bora-lock want it")
	found[1].is(t, "one device", Fail, "bora-lock names it more than once")
	if c, err = config.Load("../../configs/demo.yaml", all.All()); err != nil {
		t.Fatal(err)
	}
	if found := sharedIn(t, c); len(found) > 0 {
		t.Errorf("in the demo: %+v", found)
	}
}
