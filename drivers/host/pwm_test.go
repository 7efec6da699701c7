package host

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// channel makes the files of pwmchip0/pwm1 as the kernel shows them once
// exported, left behind enabled by somebody else.
func channel(t *testing.T, b *Board) (dir string) {
	t.Helper()
	dir = filepath.Join(b.sys, "class", "pwm", "pwmchip0", "pwm1")
	device := filepath.Join(b.sys, "devices", "1f00098000.pwm")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(device, 0o755),
		os.Symlink(device, filepath.Join(dir, "..", "device"))); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"period": "20000\n", "duty_cycle": "15000\n", "enable": "1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func number(t *testing.T, dir, name string) int64 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPWM(t *testing.T) {
	b := empty(t)
	dir := channel(t, b)
	p, err := b.PWM("pwmchip0/1", physic.KiloHertz)
	if err != nil {
		t.Fatal(err)
	}
	if number(t, dir, "duty_cycle") != 0 || number(t, dir, "period") != 1_000_000 || number(t, dir, "enable") != 1 {
		t.Error("a channel must start enabled, with duty 0 and its period")
	}
	if _, err := b.PWM("1f00098000.pwm/1", physic.KiloHertz); !errors.Is(err, drivers.ErrInUse) {
		t.Errorf("the same channel by its device: %v, want ErrInUse", err)
	}
	if err := p.SetDuty(0.25); err != nil {
		t.Fatal(err)
	}
	if duty, err := p.Duty(); err != nil || duty != 0.25 {
		t.Errorf("duty %v, %v, want 0.25", duty, err)
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if p.SetDuty(bad) == nil {
			t.Errorf("share %v was taken", bad)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "enable"), []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if duty, err := p.Duty(); err != nil || duty != 0 {
		t.Errorf("duty of a disabled channel is %v, %v", duty, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if number(t, dir, "duty_cycle") != 250_000 {
		t.Error("Close changed the duty")
	}
	again, err := b.PWM("1f00098000.pwm/1", physic.KiloHertz)
	if err != nil {
		t.Fatalf("by its device after Close: %v", err)
	}
	again.Close()
}

func TestPWMThatVanishes(t *testing.T) {
	b := empty(t)
	dir := channel(t, b)
	p, err := b.PWM("pwmchip0/1", physic.KiloHertz)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Duty(); !errors.Is(err, drivers.ErrNoLine) {
		t.Errorf("Duty: %v, want ErrNoLine", err)
	}
	if err := p.SetDuty(1); !errors.Is(err, drivers.ErrNoLine) {
		t.Errorf("SetDuty: %v, want ErrNoLine", err)
	}
}

func TestPWMFrequency(t *testing.T) {
	b := empty(t)
	channel(t, b)
	if _, err := b.PWM("pwmchip0/1", 0); err == nil {
		t.Error("a frequency of 0 was taken")
	}
}
