package mqttdevice_test

import (
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

// bench is a gadget at a broker, and its driver, in virtual time.
type bench struct {
	*testing.T
	world  *sim.World
	broker *peers.RoomBroker
	gadget *peers.Gadget
	drivers.Driver
}

func with(t *testing.T, g *peers.Gadget, o drivers.Options, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, world: sim.NewWorld(), gadget: g, broker: &peers.RoomBroker{Address: drivers.RoomBroker}}
		defer b.world.Close()
		for _, p := range []sim.Part{b.broker, g} {
			if err := b.world.Add("room", "device", p); err != nil {
				t.Fatal(err)
			}
		}
		b.start(o)
		defer func() { _ = b.Close() }() // of the driver that there is by then
		test(b)
	})
}

func (b *bench) start(o drivers.Options) {
	b.Helper()
	d, err := o.Open(b.Context(), b.world)
	if err != nil {
		b.Fatal(err)
	}
	b.Driver = d
}

// use is with for one of the usual devices.
func use(t *testing.T, name string, test func(b *bench)) {
	t.Helper()
	d := devices()[name]
	_, g := d.parts()
	g.Retain = false
	with(t, g, d.options(), test)
}

// settle lets what starts together find each other, and report once more than
// what it may only remember.
func (b *bench) settle() {
	time.Sleep(90 * time.Second)
	synctest.Wait()
}

func (b *bench) status(sub string) drivers.Status {
	b.Helper()
	all, err := b.Poll(b.Context())
	if err != nil {
		return drivers.Status{Err: err}
	}
	for _, s := range all {
		if s.Sub == sub {
			return s
		}
	}
	b.Fatalf("no status of %q in %v", sub, all)
	return drivers.Status{}
}

func (b *bench) value(sub string) (string, error) {
	b.Helper()
	s := b.status(sub)
	return s.Value, s.Err
}

func (b *bench) want(sub, want string) {
	b.Helper()
	if got, err := b.value(sub); err != nil || got != want {
		b.Errorf("%q: got %q, %v, want %q", sub, got, err, want)
	}
}

func (b *bench) do(action, value string) (drivers.Status, error) {
	b.Helper()
	a, _, ok := b.Describe().Action("", action)
	if !ok {
		b.Fatalf("no action %s", action)
	}
	args, err := a.Parse([]byte(value))
	if err != nil {
		b.Fatal(err)
	}
	return b.Do(b.Context(), drivers.Command{Action: action, Args: args})
}
