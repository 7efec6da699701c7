//go:build integration && faults

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// goneWithin is how long a value may be shown that its sensor says is gone: some looks at the device.
const goneWithin = 15 * time.Second

// sim moves the simulated building of a demo.
func (d *badDisk) sim(words ...string) {
	d.t.Helper()
	c := exec.Command(d.binary, append(append([]string{"sim"}, words...), "--data", d.data)...)
	c.Env = d.env
	if out, err := c.CombinedOutput(); err != nil {
		d.t.Fatalf("sim %q: %v\n%s", words, err, out)
	}
}

// shown is what a gateway says of a device, or of a part of it.
func (d *badDisk) shown(device, sub string) string {
	d.t.Helper()
	var got struct {
		Response struct {
			Value  string `json:"value"`
			Status string `json:"status"`
		} `json:"response"`
	}
	status, err := d.call(http.MethodPost, "/devices/"+demoRoom+"/status", map[string]string{"device_type": device, "sub_device": sub}, &got)
	if err != nil || status != http.StatusOK {
		d.t.Fatalf("the status of %s %s: %d, %v", device, sub, status, err)
	}
	return got.Response.Status
}

// TestValuesOfAGatewayThatAreGone: the hub of a room says that it has no value of a fact, while it goes on about all others, or goes away
// itself. No gateway shows what was.
func TestValuesOfAGatewayThatAreGone(t *testing.T) {
	d := openBadDisk(t, t.TempDir(), special{})
	injected, longest := 0, time.Duration(0)
	for _, c := range []struct {
		device, sub         string
		subject, gone, back string
	}{
		{"o3-sensor", "temperature", "temperature", "null", "back"},
		{"o3-sensor", "occupancy", "occupancy", "null", "back"},
		{"o3-sensor", "temperature", "o3-sensor", "unplug", "plug"},
		{"camera", "", "camera", "unplug", "plug"},
	} {
		what := fmt.Sprintf("%s %s, %s", c.device, c.sub, c.gone)
		awaitThat(t, what+": it is shown at first", func() bool { return d.shown(c.device, c.sub) != "offline" })
		d.sim("aurora", c.subject, c.gone)
		began := time.Now()
		awaitThat(t, what+": it is offline", func() bool { return d.shown(c.device, c.sub) == "offline" })
		if took := time.Since(began); took > goneWithin {
			t.Errorf("%s: for %v a value was shown that is gone", what, took)
		}
		injected++
		d.sim("aurora", c.subject, c.back)
		began = time.Now()
		awaitThat(t, what+": it is shown again", func() bool { return d.shown(c.device, c.sub) != "offline" })
		longest = max(longest, time.Since(began))
	}
	if t.Failed() {
		return
	}
	t.Attr("injected", strconv.Itoa(injected))
	t.Attr("survived", strconv.Itoa(injected))
	t.Attr("recovery", longest.String())
}
