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

// mostPerFlap is what a change may write, in bytes: many go into one transaction. Measured are 2,000.
const mostPerFlap = 6000

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
	before, flaps, began := d.written(), 0, time.Now()
	for tick := time.Tick(10 * time.Millisecond); time.Since(began) < 8*time.Second; flaps++ {
		<-tick
		say([]string{"occupied", "vacant"}[flaps%2])
		if flaps%200 == 100 {
			d.book(1)
			d.door("while a sensor flaps", true)
		}
	}
	took := time.Since(began)
	per := (d.written() - before) / int64(flaps)
	t.Logf("%d changes in %v, %d bytes for each", flaps, took, per)
	if per > mostPerFlap {
		t.Errorf("each change writes %d bytes", per)
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
