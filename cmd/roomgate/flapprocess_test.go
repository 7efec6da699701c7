//go:build integration && faults

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mostOfFlaps is what a gateway may write in a second, in bytes, while a sensor flaps: one change in ten seconds, and what it writes
// anyway. Once it was 172,000.
const mostOfFlaps = 20_000

// written is how many bytes the process has given to the kernel, for any file.
func (d *badDisk) written() (bytes int64) {
	d.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", d.process.Process.Pid))
	if err != nil {
		d.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "write_bytes: %d", &bytes); err == nil {
			return bytes
		}
	}
	d.t.Skip("the kernel here does not count what is written")
	return 0
}

// TestSensorOfAGatewayFlaps: a sensor changes its mind 100 times a second. Doors and bookings do not wait, the card is given little,
// and what it says last is shown.
func TestSensorOfAGatewayFlaps(t *testing.T) {
	d := openBadDisk(t, t.TempDir(), special{arguments: []string{"--cloud", "mqtt://" + freeAddress(t)}})
	c := overSocket(filepath.Join(d.data, socketName), answerTime)
	say := func(value string) {
		var answer simAnswer
		if err := c.call(t.Context(), http.MethodPost, "/sim", simCommand{"aurora", "occupancy", []string{value}}, &answer); err != nil {
			t.Fatal(err)
		}
	}
	flaps := 0
	flap := func(while time.Duration, also func()) {
		began := time.Now()
		for tick := time.Tick(10 * time.Millisecond); time.Since(began) < while; flaps++ {
			<-tick
			say([]string{"occupied", "vacant"}[flaps%2])
			if flaps%200 == 100 {
				also()
			}
		}
	}
	flap(4*time.Second, func() { // more changes than are stored as they come
		d.book(1)
		d.door("while a sensor flaps", true)
	})
	const while = 6 * time.Second
	before := d.written()
	flap(while, func() {})
	per := (d.written() - before) / int64(while/time.Second)
	t.Logf("%d changes, %d bytes a second in the end", flaps, per)
	if per > mostOfFlaps {
		t.Errorf("it writes %d bytes a second", per)
	}
	say("occupied")
	ended := time.Now()
	awaitThat(t, "what the sensor said last is shown", func() bool { return d.value("o3-sensor", "occupancy") == "occupied" })
	d.longest = max(d.longest, time.Since(ended))
	d.intact(flaps)
}

// value is what a gateway shows of a part of a device.
func (d *badDisk) value(device, sub string) string {
	d.t.Helper()
	var got struct {
		Response struct {
			Value string `json:"value"`
		} `json:"response"`
	}
	status, err := d.call(http.MethodPost, "/devices/"+demoRoom+"/status", map[string]string{"device_type": device, "sub_device": sub}, &got)
	if err != nil || status != http.StatusOK {
		d.t.Fatalf("the status of %s %s: %d, %v", device, sub, status, err)
	}
	return got.Response.Value
}
