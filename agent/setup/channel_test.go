package setup

import "testing"

// TestChannelsAsTheDriver: a channel is a chip and a number, as the driver takes it, and a line is one line.
func TestChannelsAsTheDriver(t *testing.T) {
	for channel, can := range map[string]bool{"pwmchip0/0": true, "1f00098000.pwm/1": true, "0/1": true, "aurora.light": true,
		"pwmchip0": false, "foo": false, "pwmchip0/": false, "/0": false, "pwmchip0/x": false, "pwmchip0/-1": false, "pwmchip0/70000": false,
		"pwmchip0/0,pwmchip0/1": false, "pwmchip0 /0": false, "3": false, "pwm0": false} {
		if why := MisnamedChannel(channel); (why == "") != can {
			t.Errorf("channel %q: %q", channel, why)
		}
	}
	for line, can := range map[string]bool{"GPIO17": true, "pinctrl-rp1/17": true, "P9_14 [EHRPWM1A]": true,
		"GPIO17,GPIO18": false, "GPIO17 GPIO18": false, "GPIO17 ": false, " relay": false, "a;b": false} {
		if why := Misnamed(line); (why == "") != can {
			t.Errorf("line %q: %q", line, why)
		}
	}
}
