package mqttdevice_test

import (
	"slices"
	"strings"
	"testing"

	"roomgate/drivers"
	"roomgate/drivers/mqttdevice"
)

// TestAccounts: what a user needs to speak for a device, as each product's
// documentation has it.
func TestAccounts(t *testing.T) {
	for name, want := range map[string]drivers.Account{
		"lock-zigbee2mqtt": {Names: []string{"zigbee2mqtt", "zigbee2mqtt"},
			Publish:   []string{"zigbee2mqtt/#", "homeassistant/+/+/+/config"},
			Subscribe: []string{"zigbee2mqtt/#", "homeassistant/status"}},
		"light-tasmota": {Names: []string{"tasmota_A1B2C3"},
			Publish:   []string{"stat/tasmota_A1B2C3/#", "tele/tasmota_A1B2C3/#", "tasmota/discovery/#"},
			Subscribe: []string{"cmnd/tasmota_A1B2C3/#"}},
		"fan-esphome": {Names: []string{"aurora-fan", "aurora-fan"},
			Publish:   []string{"aurora-fan/#", "esphome/discover/aurora-fan", "homeassistant/+/aurora-fan/+/config"},
			Subscribe: []string{"aurora-fan/#", "esphome/ping/aurora-fan", "esphome/discover"}},
		"fan-shelly": {Names: []string{"shellyplus1-08b61fd90730"},
			Publish:   []string{"shellyplus1-08b61fd90730/#", "shellyplus1-08b61fd90730-roomgate/rpc"},
			Subscribe: []string{"shellyplus1-08b61fd90730/#"}},
	} {
		all := devices()[name].options().Accounts()
		if len(all) != 1 || !slices.Equal(all[0].Names, want.Names) || !slices.Equal(all[0].Publish, want.Publish) || !slices.Equal(all[0].Subscribe, want.Subscribe) {
			t.Errorf("%s: %+v, want %+v", name, all, want)
		}
	}
	full := devices()["light-tasmota"].options()
	full.Topic = "house/%prefix%/lamp"
	if got := full.Accounts()[0]; !slices.Equal(got.Names, []string{"house//lamp"}) || got.Subscribe[0] != "house/cmnd/lamp/#" {
		t.Errorf("a full topic: %+v", got)
	}
	for name, d := range devices() {
		o := d.options()
		a := o.Accounts()[0]
		if (a.Opens != nil) != (d.kind == "lock") {
			t.Errorf("%s is a door: %t", name, a.Opens != nil)
		}
		for _, says := range a.Says {
			if !slices.ContainsFunc(a.Publish, func(f string) bool { return f == says || strings.HasPrefix(says, strings.TrimSuffix(f, "#")) }) {
				t.Errorf("%s: its user may not publish to %s, only to %q", name, says, a.Publish)
			}
		}
		if o.Broker = "elsewhere:1883"; o.Accounts() != nil {
			t.Errorf("%s has an account though it is at another broker", name)
		}
	}
}

// TestAccountsOfSensors: each source has its own.
func TestAccountsOfSensors(t *testing.T) {
	o := kindOf("o3-room").Options().(*mqttdevice.Sensors)
	o.Occupancy = mqttdevice.Source{Dialect: "zigbee2mqtt", Place: mqttdevice.Place{Topic: "zigbee2mqtt/motion"}}
	if got := o.Accounts(); len(got) != 1 || got[0].Names[0] != "zigbee2mqtt" || got[0].Opens != nil {
		t.Errorf("%+v", got)
	}
	o.Temperature = mqttdevice.Source{Dialect: "esphome", Place: mqttdevice.Place{Topic: "climate", Name: "t"}}
	if got := o.Accounts(); len(got) != 2 || got[0].Names[0] != "climate" {
		t.Errorf("%+v", got)
	}
}
