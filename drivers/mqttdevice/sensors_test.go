package mqttdevice_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/mqttdevice"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

// sensor is a gadget that is a source of an o3-room.
func sensor(product, topic string) *peers.Gadget {
	return &peers.Gadget{Product: product, Kind: "sensor", Topic: topic, Name: map[string]string{"esphome": "climate"}[product]}
}

func sensorOptions(change func(*mqttdevice.Sensors)) *mqttdevice.Sensors {
	o := kindOf("o3-room").Options().(*mqttdevice.Sensors)
	change(o)
	return o
}

// sources are how each dialect is told where its values are.
func sources() map[string]func(*mqttdevice.Sensors) {
	return map[string]func(*mqttdevice.Sensors){
		"zigbee2mqtt": func(o *mqttdevice.Sensors) {
			o.Temperature = mqttdevice.Source{Dialect: "zigbee2mqtt", Place: mqttdevice.Place{Topic: "zigbee2mqtt/climate"}}
			o.Occupancy = o.Temperature
		},
		"tasmota": func(o *mqttdevice.Sensors) {
			o.Temperature = mqttdevice.Source{Dialect: "tasmota", Place: mqttdevice.Place{Topic: "climate"}}
			o.Occupancy = mqttdevice.Source{Dialect: "tasmota", Place: mqttdevice.Place{Topic: "%prefix%/climate", Name: "Switch1"}}
		},
		"esphome": func(o *mqttdevice.Sensors) {
			o.Temperature = mqttdevice.Source{Dialect: "esphome", Place: mqttdevice.Place{Topic: "climate", Name: "climate"}}
			o.Occupancy = o.Temperature
		},
		"shelly": func(o *mqttdevice.Sensors) {
			o.Temperature = mqttdevice.Source{Dialect: "shelly", Place: mqttdevice.Place{Topic: "climate", Component: "temperature:0"}}
			o.Occupancy = mqttdevice.Source{Dialect: "shelly", Place: mqttdevice.Place{Topic: "climate", Component: "input:0"}}
		},
	}
}

func topicOf(product string) string {
	if product == "zigbee2mqtt" {
		return "zigbee2mqtt/climate"
	}
	return "climate"
}

// silences are how each dialect's values end. Where nothing is said of a value
// it is found out by what the device leaves out when it is asked, or by age.
// That ESPHome does not speak of a contact means that it has not changed.
func silences() map[string][]drivertest.Silence {
	const age = 150*time.Minute + 20*time.Second // silence, and the time between two polls
	const asked = age / 3
	gone := func(sub, by string, within, fresh time.Duration) drivertest.Silence {
		return drivertest.Silence{Sub: sub, By: by, Within: within, Fresh: fresh}
	}
	at, warm, there := 10*time.Second, drivers.SubTemperature, drivers.SubOccupancy
	return map[string][]drivertest.Silence{
		"zigbee2mqtt": {
			gone(warm, "null", at, time.Minute), gone(there, "null", at, time.Minute),
			gone(warm, "missing", age, time.Minute), gone(there, "missing", age, time.Minute),
		},
		"tasmota": {
			gone(warm, "null", at, time.Minute), gone(there, "null", at, time.Minute),
			gone(warm, "missing", at, time.Minute), gone(there, "missing", at, time.Minute),
		},
		"esphome": {gone(warm, "null", at, asked), gone(there, "null", at, time.Minute), gone(warm, "missing", age, asked)},
		"shelly": {
			gone(warm, "null", at, asked), gone(there, "null", at, asked),
			gone(warm, "missing", asked, asked), gone(there, "missing", asked, asked),
		},
	}
}

func TestSensorConformance(t *testing.T) {
	for product, set := range sources() {
		t.Run(product, func(t *testing.T) {
			drivertest.Run(t, drivertest.Case{
				Kind:    kindOf("o3-room"),
				Options: func() drivers.Options { return sensorOptions(set) },
				Parts: func() []sim.Part {
					return []sim.Part{&peers.RoomBroker{Address: drivers.RoomBroker}, sensor(product, topicOf(product))}
				},
				Unfitted: []string{drivers.SubBuzzer, drivers.SubRing},
				Silences: silences()[product],
				Bad:      badSensors(),
			})
		})
	}
}

func badSensors() []drivertest.Bad {
	field := func(name string, change func(*mqttdevice.Sensors)) drivertest.Bad {
		return drivertest.Bad{Field: name, Change: func(o drivers.Options) { change(o.(*mqttdevice.Sensors)) }}
	}
	return []drivertest.Bad{
		field("temperature.dialect", func(o *mqttdevice.Sensors) { o.Temperature, o.Occupancy = mqttdevice.Source{}, mqttdevice.Source{} }),
		field("temperature.dialect", func(o *mqttdevice.Sensors) { o.Temperature.Dialect = "" }),
		field("temperature.dialect", func(o *mqttdevice.Sensors) { o.Temperature.Dialect = "homie" }),
		field("occupancy.topic", func(o *mqttdevice.Sensors) { o.Occupancy.Topic = "+" }),
		field("unit", func(o *mqttdevice.Sensors) { o.Unit = "K" }),
		field("timeout", func(o *mqttdevice.Sensors) { o.Timeout = 0 }),
	}
}

// TestSensors: each dialect's values arrive as the platform has them, and a
// change arrives at once.
func TestSensors(t *testing.T) {
	for product, set := range sources() {
		g := sensor(product, topicOf(product))
		g.Fahrenheit = product == "esphome" || product == "tasmota"
		o := sensorOptions(set)
		if product == "esphome" {
			o.Unit = "F"
		}
		with(t, g, o, func(b *bench) {
			b.settle()
			b.want(drivers.SubTemperature, "21.5")
			b.want(drivers.SubOccupancy, drivers.Vacant)
			g.Warm(-0.04)
			g.Occupy(true)
			synctest.Wait()
			b.want(drivers.SubTemperature, "0")
			b.want(drivers.SubOccupancy, drivers.Occupied)
			if s := b.status(drivers.SubBuzzer); !errors.Is(s.Err, drivers.ErrUnsupported) {
				b.Errorf("buzzer: %+v", s)
			}
		})
	}
}

// TestSleeper: a sensor that is gone between two reports is not offline, and
// is when it misses one.
func TestSleeper(t *testing.T) {
	o := sensorOptions(sources()["shelly"])
	o.Occupancy, o.Temperature.Sleeps, o.Silence = mqttdevice.Source{}, true, time.Hour
	g := sensor("shelly", "climate")
	with(t, g, o, func(b *bench) {
		b.settle()
		g.Warm(21.5) // nobody asks a sleeper: its first report may have come before the driver
		synctest.Wait()
		b.want(drivers.SubTemperature, "21.5")
		g.Unplug()
		time.Sleep(50 * time.Minute)
		b.want(drivers.SubTemperature, "21.5")
		time.Sleep(15 * time.Minute)
		if _, err := b.value(drivers.SubTemperature); !errors.Is(err, drivers.ErrOffline) {
			b.Errorf("it missed its hour: %v", err)
		}
		g.Plug()
		time.Sleep(10 * time.Second)
		b.want(drivers.SubTemperature, "21.5")
	})
}

// TestBadReading: a thermometer that has lost its probe has no value.
func TestBadReading(t *testing.T) {
	for product, payloads := range map[string][]string{
		"zigbee2mqtt": {`{"temperature":-300}`, `{`, `[]`, ``},
		"esphome":     {"nan", "", "21.5 °C"},
	} {
		for _, payload := range payloads {
			g := sensor(product, topicOf(product))
			with(t, g, sensorOptions(sources()[product]), func(b *bench) {
				b.settle()
				topic := g.Topic
				if product == "esphome" {
					topic += "/sensor/climate/state"
				}
				g.Say(topic, payload, product == "esphome")
				synctest.Wait()
				if got, err := b.value(drivers.SubTemperature); err == nil {
					b.Errorf("%s: %q is %q", product, payload, got)
				}
				g.Warm(25)
				synctest.Wait()
				b.want(drivers.SubTemperature, "25")
			})
		}
	}
}
