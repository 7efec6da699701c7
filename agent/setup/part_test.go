package setup

import (
	"slices"
	"strings"
	"testing"
)

// TestLinesOfARunningGateway: who sets a gateway up anew can give its own lines to other
// devices, each once, and is told who has the others.
func TestLinesOfARunningGateway(t *testing.T) {
	found := Board{Lines: []string{"GPIO5"}, Taken: []string{"GPIO17 (in use by roomgate)", "GPIO27 (in use by roomgate)", "GPIO8 (in use by spi0 CS0)"}}
	console := found.Clone()
	found.Release("roomgate")
	b := found.Clone()
	said := func(b *Board, line string) string {
		if err := b.Judge(Lines, line); err != nil {
			return err.Error()
		}
		return ""
	}
	for line, want := range map[string]string{"GPIO5": "", "GPIO17": "", "GPIO27": "",
		"GPIO8":  "GPIO8 is in use by spi0 CS0: want another line",
		"GPIO71": "there is no free line GPIO71 here"} {
		if got := said(&b, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{"GPIO17", "GPIO5"} {
		b.Take(Lines, line)
		if got, want := said(&b, line), line+" is asked for by an answer before: want another line"; got != want {
			t.Errorf("%s twice: %q, want %q", line, got, want)
		}
	}
	if got := said(&b, "GPIO71"); got != "there is no free line GPIO71 here" {
		t.Errorf("with none free: %q", got)
	}
	if got := said(&console, "GPIO17"); got != "GPIO17 is in use by roomgate: want another line" {
		t.Errorf("while it runs: %q", got)
	}
	if !slices.Equal(found.Ours, []string{"GPIO17", "GPIO27"}) || len(found.Taken) != 1 {
		t.Errorf("a round of questions changes what was found: %+v", found)
	}
	empty := Board{}
	if got := said(&empty, "any.line"); got != "" {
		t.Errorf("no board: %q", got)
	}
}

// TestPinsOfTheHeader: who counts pins is told the line.
func TestPinsOfTheHeader(t *testing.T) {
	for pin, want := range map[string]string{"pin 13": "as GPIO27 for pin 13 of a Raspberry Pi", "PIN#40": "as GPIO21 for pin 40", "physical pin 27": "as GPIO0 for pin 27",
		"pin 2": "as pin 2 of a Raspberry Pi is power, ground or not there", "pin 41": "as pin 41 of a Raspberry Pi is power, ground or not there"} {
		if got := Misnamed(pin); !strings.Contains(got, want) || !strings.Contains(got, seeSetup) {
			t.Errorf("%s %s", pin, got)
		}
		b := Board{}
		if err := b.Judge(Lines, pin); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "roomgate setup") {
			t.Errorf("asked for by setup: %v", err)
		}
	}
	if got := Misnamed("0"); !strings.Contains(got, "want GPIO0 ") {
		t.Error(got)
	}
	seen := map[int]bool{}
	for _, number := range header {
		seen[number] = true
	}
	if len(seen) != len(header) || len(header) != 28 { // GPIO0 to GPIO27
		t.Errorf("%d pins for %d lines", len(header), len(seen))
	}
}

// TestLettersForDigits: a letter that looks like a digit is told; so is a number that no header has.
func TestLettersForDigits(t *testing.T) {
	for line, want := range map[string]string{"GPI017": "GPIO17", "GPlO17": "GPIO17", "gpi0 4": "GPIO4", "GPIOl7": "GPIO17", "GPIO2O": "GPIO20", "6PIO5": "GPIO5"} {
		if why := Misnamed(line); !strings.HasPrefix(why, "is no name of a line: want "+want+", with the letters G P I O") {
			t.Errorf("%s: %q", line, why)
		}
	}
	for line, doubtful := range map[string]bool{"GPIO27": false, "GPIO99": true, "gpio17": true, "P9_11": false, "GPIO2": false,
		"yes": true, "True": true, "zigbee2mqtt": true, "switch": true, "SDA": false, "ID_SDA": false, "aurora.lock.relay": false, "pinctrl-rp1/17": false, "led0": false, "7J1 Header Pin11": false} {
		if why := Doubtful(line); Misnamed(line) != "" || (why != "") != doubtful {
			t.Errorf("%s: %q, %q", line, Misnamed(line), why)
		}
	}
}
