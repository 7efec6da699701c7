package host

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// empty is a board without any hardware.
func empty(t *testing.T) *Board {
	t.Helper()
	root := t.TempDir()
	b := at(filepath.Join(root, "dev"), filepath.Join(root, "sys"))
	if err := errors.Join(os.Mkdir(b.dev, 0o755), os.Mkdir(b.sys, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestWhatIsNotThere(t *testing.T) {
	b := empty(t)
	for name, ask := range map[string]func() error{
		"GPIO17":       func() error { _, err := b.Output("GPIO17", true); return err },
		"DOOR_SENSE":   func() error { _, err := b.Input("DOOR_SENSE", drivers.PullUp); return err },
		"pwmchip0":     func() error { _, err := b.PWM("pwmchip0/1", physic.KiloHertz); return err },
		"sound/1/2":    func() error { _, err := b.PWM("sound/1/2", physic.KiloHertz); return err },
		"i2c-77":       func() error { _, err := b.I2C("i2c-77"); return err },
		"I2C1":         func() error { _, err := b.I2C("I2C1"); return err },
		"spidev9.1":    func() error { _, err := b.SPI("spidev9.1", physic.MegaHertz, 0); return err },
		"../dev/mem":   func() error { _, err := b.SPI("../dev/mem", physic.MegaHertz, 0); return err },
		"i2c-../../x1": func() error { _, err := b.I2C("i2c-../../x1"); return err },
	} {
		err := ask()
		if !errors.Is(err, drivers.ErrNoLine) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want ErrNoLine with the name", name, err)
		}
	}
	if len(b.held) != 0 {
		t.Errorf("still held after refusals: %v", b.held)
	}
}

func TestNotAChip(t *testing.T) {
	b := empty(t)
	path := filepath.Join(b.dev, "gpiochip0")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := b.Output("GPIO17", false)
	if err == nil || errors.Is(err, drivers.ErrNoLine) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want the chip's own fault", err)
	}
}

func TestClaim(t *testing.T) {
	b := empty(t)
	release, err := b.claim("line 1", "door")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.claim("line 1", "door"); !errors.Is(err, drivers.ErrInUse) {
		t.Errorf("second claim: %v, want ErrInUse", err)
	}
	release()
	other, err := b.claim("line 1", "door")
	if err != nil {
		t.Fatalf("claim after release: %v", err)
	}
	release() // once more must not release the other's
	if _, err := b.claim("line 1", "door"); !errors.Is(err, drivers.ErrInUse) {
		t.Errorf("after a late release: %v, want ErrInUse", err)
	}
	other()
}

func TestPageIsTheSameByName(t *testing.T) {
	b := empty(t)
	aurora := b.Page("aurora")
	if aurora != b.Page("aurora") || aurora == b.Page("borealis") {
		t.Error("pages are not by name")
	}
}

func TestDial(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	b := empty(t)
	conn, err := b.Dial(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Dial(ended, "tcp", listener.Addr().String()); err == nil {
		t.Error("dialled after the context had ended")
	}
}
