package mqttdevice

import (
	"context"
	"time"

	"roomgate/drivers"
)

const (
	usualSilence = 5 * time.Minute
	// quietSilence is for what runs on a battery and speaks once an hour.
	quietSilence = 150 * time.Minute

	usualTimeout = 3 * time.Second
	// slowTimeout is for a bolt with a motor, behind a radio that sleeps.
	slowTimeout = 15 * time.Second

	usualSpeeds = 100 // of an ESPHome fan
)

// Kinds are the drivers as the configuration names them: lock-zigbee2mqtt and
// so on, and o3-room.
func Kinds() []drivers.Kind {
	all := []drivers.Kind{{
		Name: "o3-room", Type: drivers.TypeO3,
		Summary: "a temperature and an occupancy sensor at the room broker, of any dialect",
		Options: func() drivers.Options {
			return &Sensors{Reach: reach(quietSilence, usualTimeout), Unit: "C"}
		},
	}}
	for _, k := range []struct{ of, dialect string }{
		{drivers.TypeLock, "zigbee2mqtt"}, {drivers.TypeLock, "esphome"},
		{drivers.TypeLight, "zigbee2mqtt"}, {drivers.TypeLight, "tasmota"},
		{drivers.TypeLight, "esphome"}, {drivers.TypeLight, "shelly"},
		{drivers.TypeFan, "zigbee2mqtt"}, {drivers.TypeFan, "tasmota"},
		{drivers.TypeFan, "esphome"}, {drivers.TypeFan, "shelly"},
	} {
		all = append(all, kind(k.of, k.dialect))
	}
	return all
}

func kind(of, dialect string) drivers.Kind {
	name, speeds := of+"-"+dialect, 0
	if of == drivers.TypeFan && dialect == "esphome" {
		speeds = usualSpeeds
	}
	silence, timeout := usualSilence, usualTimeout
	if of == drivers.TypeLock {
		timeout = slowTimeout
		if dialect == "zigbee2mqtt" {
			silence = quietSilence
		}
	}
	return drivers.Kind{Name: name, Type: of, Summary: title(of, dialect), Options: func() drivers.Options {
		return &Options{Reach: reach(silence, timeout), Speeds: speeds, kind: name, of: of, dialect: dialect}
	}}
}

func reach(silence, timeout time.Duration) Reach {
	return Reach{Broker: drivers.RoomBroker, Silence: silence, Timeout: timeout}
}

// Open starts the connection to the broker and returns at once: a device that
// is away is offline, not an error. It gives no order.
func (o *Options) Open(_ context.Context, b drivers.Buses) (drivers.Driver, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	p := newPeer(o.talk(), o.Silence, false)
	if o.of == drivers.TypeLock {
		return open(o.Reach, b, []*peer{p}, &door{o.kind, o.dialect, p}), nil
	}
	return open(o.Reach, b, []*peer{p}, &switched{o, p}), nil
}

// Open starts the connection to the broker, as the other Open does.
func (o *Sensors) Open(_ context.Context, b drivers.Buses) (drivers.Driver, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	s := &sensors{by: map[string]*peer{}}
	var peers []*peer
	for _, from := range o.sources() {
		if from.Dialect == "" {
			continue
		}
		at := spot{Place: from.Place, fahrenheit: o.Unit == "F"}
		p := newPeer(dialects()[from.Dialect](drivers.TypeO3, at), o.Silence, from.Sleeps)
		s.by[from.fact] = p
		peers = append(peers, p)
	}
	return open(o.Reach, b, peers, s), nil
}
