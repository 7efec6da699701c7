package o3

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// Options are what the configuration says about one hub.
type Options struct {
	// Address is the hub, or the broker that it is bridged to: host:port.
	Address string `yaml:"address"`
	// Username and Password log in; an empty name logs in without either.
	Username string         `yaml:"username"`
	Password drivers.Secret `yaml:"password"`
	// PasswordFile holds the password in its first line, read at each connect.
	PasswordFile string `yaml:"password_file"`
	// Prefix precedes the topics of a bridged hub, as "building/3/o3-12".
	Prefix string `yaml:"prefix"`
	// Temperature and Occupancy are the subtopics that those values come from.
	Temperature string `yaml:"temperature"`
	Occupancy   string `yaml:"occupancy"`
	// Idle is the sound that stands for silence.
	Idle string `yaml:"idle_sound"`
	// Silence is how long the hub may report nothing before its topics are
	// subscribed again; after twice as long the driver connects again, after
	// three times the hub is offline.
	Silence time.Duration `yaml:"silence"`
	// Stale is how old a value may grow.
	Stale Stale `yaml:"stale"`
	// Timeout bounds the wait for the report that confirms an order, and for
	// the first reports on a new connection.
	Timeout time.Duration `yaml:"timeout"`
}

// Stale is the age from which a value counts as unknown; zero means that it
// holds as long as the connection.
type Stale struct {
	Temperature time.Duration `yaml:"temperature"`
	Occupancy   time.Duration `yaml:"occupancy"`
	Buzzer      time.Duration `yaml:"buzzer"`
	Ring        time.Duration `yaml:"ring-light"`
}

// Kind is the O3 as the configuration names it.
func Kind() drivers.Kind {
	return drivers.Kind{
		Name:    "o3-mqtt",
		Type:    drivers.TypeO3,
		Summary: "Delta Controls O3 sensor hub over MQTT",
		Options: func() drivers.Options { return defaults() },
	}
}

func defaults() *Options {
	return &Options{
		Username:    "user",
		Temperature: occupantTemperature,
		Occupancy:   combinedOccupancy,
		Idle:        idleSound,
		Silence:     30 * time.Second,
		Stale:       Stale{Temperature: 5 * time.Minute, Occupancy: 5 * time.Minute},
		Timeout:     3 * time.Second,
	}
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error {
	switch {
	case !session.ValidAddress(o.Address):
		return refuse("address", "is not an address: want host:port, as 10.0.0.7:1883")
	case o.Password != "" && o.PasswordFile != "":
		return refuse("password_file", "is given beside password: keep one of them")
	case len(o.Prefix) > 128 || strings.ContainsAny(o.Prefix, "+#\x00") || strings.HasSuffix(o.Prefix, "/"):
		return refuse("prefix", "is not a topic: want at most 128 bytes without +, # and a slash at the end")
	case !slices.Contains(temperatureSources(), o.Temperature):
		return drivers.Unknown("temperature", o.Temperature, "one of "+strings.Join(temperatureSources(), ", "))
	case !slices.Contains(occupancySources(), o.Occupancy):
		return drivers.Unknown("occupancy", o.Occupancy, "one of "+strings.Join(occupancySources(), ", "))
	case o.Idle == "" || len(o.Idle) > maxText:
		return refuse("idle_sound", "is not a name: want 1 to 128 bytes")
	case o.Silence < time.Second || o.Silence > time.Hour:
		return refuse("silence", "is out of range: want 1s to 1h")
	case o.Timeout < 100*time.Millisecond || o.Timeout > time.Minute:
		return refuse("timeout", "is out of range: want 100ms to 1m")
	}
	return o.Stale.check()
}

func (s Stale) check() error {
	for _, f := range []struct {
		name string
		age  time.Duration
	}{
		{"temperature", s.Temperature}, {"occupancy", s.Occupancy},
		{"buzzer", s.Buzzer}, {"ring-light", s.Ring},
	} {
		if f.age < 0 || f.age > 24*time.Hour {
			return refuse("stale."+f.name, "is out of range: want 0 (never) to 24h")
		}
	}
	return nil
}

// Accounts are those of a hub that is bridged to the room broker.
func (o *Options) Accounts() []drivers.Account {
	if o.Address != drivers.RoomBroker {
		return nil
	}
	below, names := "", []string(nil)
	if o.Prefix != "" {
		below, names = o.Prefix+"/", []string{o.Prefix, path.Base(o.Prefix)}
	}
	return []drivers.Account{{
		Names:     names,
		Says:      []string{below + "events/object/#"},
		Publish:   []string{below + "events/object/#"},
		Subscribe: []string{below + "commands/object/#"},
	}}
}

func refuse(field, problem string) error {
	return &drivers.FieldError{Field: field, Problem: problem}
}

// Open starts the connection to the hub and returns at once: a hub that is
// away is offline, not an error. It gives no order, so the ring stays as it is.
func (o *Options) Open(_ context.Context, b drivers.Buses) (drivers.Driver, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return open(*o, b), nil
}
