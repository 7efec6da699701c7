package sim

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"

	"roomgate/drivers"
)

// access is a way to reach a part, with the fault switches of that part.
type access struct {
	faults *Faults
	try    func() error
	blind  bool // nobody can tell that it is garbled
}

// accesses are all ways, each on a part of its own.
func accesses(t *testing.T) map[string]access {
	t.Helper()
	bell, pir, lamp := &Buzzer{Line: "bell"}, &PIR{Line: "motion"}, &Lamp{PWM: "lamp"}
	chip, ring := &TMP102{Bus: "i2c"}, &APA102{SPI: "ring", LEDs: 1}
	w := world(t, bell, pir, lamp, chip, ring)
	out, err1 := w.Output("bell", false)
	in, err2 := w.Input("motion", drivers.PullNone)
	pwm, err3 := w.PWM("lamp", physic.KiloHertz)
	bus, err4 := w.I2C("i2c")
	port, err5 := w.SPI("ring", physic.MegaHertz, spi.Mode0)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	return map[string]access{
		"output": {&bell.Faults, func() error { return out.Set(true) }, false},
		"input":  {&pir.Faults, func() error { _, err := in.Read(); return err }, false},
		"pwm":    {&lamp.Faults, func() error { return pwm.SetDuty(0.5) }, false},
		"duty":   {&lamp.Faults, func() error { _, err := pwm.Duty(); return err }, false},
		"i2c":    {&chip.Faults, func() error { return bus.Tx(0x48, []byte{1, 0x60}, nil) }, false},
		"spi":    {&ring.Faults, func() error { return port.Tx([]byte{0}, nil) }, true},
	}
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, a := range accesses(t) {
			a.faults.Unplug()
			if err := a.try(); !errors.Is(err, drivers.ErrOffline) {
				t.Errorf("%s unplugged: %v, want ErrOffline", name, err)
			}
			a.faults.Plug()
			a.faults.Garble()
			if err := a.try(); (err == nil) != a.blind || err != nil && !errors.Is(err, syscall.EIO) {
				t.Errorf("%s garbled: %v", name, err)
			}
			a.faults.Ungarble()
			a.faults.Delay(time.Second)
			began := time.Now()
			if err := a.try(); err != nil || time.Since(began) != time.Second {
				t.Errorf("%s delayed: %v after %s", name, err, time.Since(began))
			}
			a.faults.Delay(0)
			began = time.Now()
			a.faults.Stick()
			time.AfterFunc(time.Hour, a.faults.Unstick)
			if err := a.try(); err != nil || time.Since(began) != time.Hour {
				t.Errorf("%s stuck for an hour: %v after %s", name, err, time.Since(began))
			}
		}
	})
}

func TestUnpluggedWhileStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, a := range accesses(t) {
			a.faults.Stick()
			time.AfterFunc(time.Minute, a.faults.Unplug)
			if err := a.try(); !errors.Is(err, drivers.ErrOffline) {
				t.Errorf("%s unplugged while it was stuck: %v", name, err)
			}
		}
	})
}

func TestCloseOfTheWorldFreesWhoeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bell, chip := &Buzzer{Line: "bell"}, &TMP102{Bus: "i2c"}
		w := world(t, bell, chip)
		bus, _ := w.I2C("i2c")
		bell.Stick()
		chip.Stick()
		over := make(chan error, 3)
		go func() { _, err := w.Output("bell", false); over <- err }()
		for range 2 { // the second waits for the bus that the first holds
			go func() { over <- bus.Tx(0x48, nil, make([]byte, 2)) }()
		}
		synctest.Wait()
		w.Close()
		w.Close()
		for range 3 {
			if err := <-over; !errors.Is(err, drivers.ErrClosed) {
				t.Errorf("freed with %v, want ErrClosed", err)
			}
		}
	})
}

func TestCloseOfALineFreesItsUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bell := &Buzzer{Line: "bell"}
		o, err := world(t, bell).Output("bell", false)
		if err != nil {
			t.Fatal(err)
		}
		bell.Stick()
		over := make(chan error)
		go func() { over <- o.Set(true) }()
		synctest.Wait()
		_ = o.Close()
		if err := <-over; !errors.Is(err, drivers.ErrClosed) {
			t.Errorf("freed with %v, want ErrClosed", err)
		}
		if bell.Sounding() {
			t.Error("the order was carried out all the same")
		}
	})
}

func TestI2CBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &TMP102{Bus: "i2c", Address: 0x48}, &TMP102{Bus: "i2c", Address: 0x49}
		bus, err := world(t, a, b).I2C("i2c")
		if err != nil {
			t.Fatal(err)
		}
		if err := bus.Tx(0x4A, nil, make([]byte, 1)); !errors.Is(err, drivers.ErrOffline) || !errors.Is(err, syscall.ENXIO) {
			t.Errorf("nobody at the address: %v", err)
		}
		if err := bus.SetSpeed(physic.MegaHertz); err == nil {
			t.Error("the speed of the shared bus was changed")
		}
		time.Sleep(time.Second)
		a.Garble()
		r := make([]byte, 2)
		if err := bus.Tx(0x48, []byte{0}, r); err != nil || !bytes.Equal(r, []byte{0xEA, 0x7F}) {
			t.Errorf("garbled read: % x, %v, want every bit turned over", r, err)
		}
		if err := bus.Tx(0x49, []byte{0}, r); err != nil || r[0] != 0x15 {
			t.Errorf("the neighbour of a garbled chip: % x, %v", r, err)
		}
		a.Stick() // holds the bus
		over := make(chan error)
		go func() { over <- bus.Tx(0x48, []byte{0}, r) }()
		synctest.Wait()
		time.AfterFunc(time.Minute, a.Unstick)
		began := time.Now()
		if err := bus.Tx(0x49, []byte{0}, make([]byte, 2)); err != nil || time.Since(began) < time.Minute {
			t.Errorf("the neighbour of a stuck chip: %v after %s", err, time.Since(began))
		}
		<-over
	})
}
