package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"roomgate/agent/machineuser"
)

// buses examines the I2C buses, SPI ports, PWM channels and cameras that the
// configuration names.
func buses(_ context.Context, x *examination) (found []Finding) {
	for _, n := range x.wanted(kindI2C) {
		adapter := x.read("sys/class/i2c-dev/" + n.name + "/name")
		found = append(found, x.node(n, adapter, "enable the bus: "+bootLine(x, "dtparam=i2c_arm=on")+"; and sudo modprobe i2c-dev"))
	}
	for _, n := range x.wanted(kindSPI) {
		found = append(found, x.node(n, "", "enable the port: "+bootLine(x, "dtparam=spi=on")))
	}
	for _, n := range x.wanted(kindPWM) {
		found = append(found, x.channel(n))
	}
	for _, n := range x.wanted(kindCamera) {
		found = append(found, x.video(n))
	}
	return found
}

// node examines a device file that is named as in /dev.
func (x *examination) node(n need, what, enable string) Finding {
	name := n.kind + " " + n.name
	path := "dev/" + n.name
	info, ok := x.exists(path)
	if !ok {
		return fail(name, fmt.Sprintf("there is no /%s, %s needs it%s", path, n.device, x.others(n.name)), enable)
	}
	seen := strings.TrimSpace("/" + path + " " + what)
	if !x.user.May(info, machineuser.Read|machineuser.Write) {
		return fail(name, fmt.Sprintf("%s, which %s may not open", seen, x.user.Name), x.join(info))
	}
	return good(name, "%s for %s", seen, n.device)
}

// others lists what there is of a kind instead, as ", there is i2c-20".
func (x *examination) others(name string) string {
	kind := strings.TrimRight(name, "0123456789.-")
	there := x.below("dev", kind+"*")
	if len(there) == 0 {
		return ""
	}
	return ", there is " + strings.Join(there, " ")
}

// channel examines a PWM channel by its chip's number or device, as the
// drivers find it (kernel, Documentation/driver-api/pwm.rst).
func (x *examination) channel(n need) Finding {
	name := n.kind + " " + n.name
	chip, number, _ := strings.Cut(n.name, "/")
	const class = "sys/class/pwm"
	for _, c := range x.below(class, "pwmchip*") {
		device, _ := filepath.EvalSymlinks(x.path(filepath.Join(class, c, "device")))
		if c != chip && filepath.Base(device) != chip {
			continue
		}
		return x.pwm(name, n, filepath.Join(class, c), number)
	}
	return fail(name, fmt.Sprintf("no PWM chip %s, there is %s; %s needs it", chip, dash(strings.Join(x.below(class, "pwmchip*"), " ")), n.device),
		"enable PWM: "+bootLine(x, "dtoverlay=pwm-2chan"))
}

func (x *examination) pwm(name string, n need, chip, number string) Finding {
	has, _ := strconv.Atoi(x.read(chip + "/npwm"))
	if want, err := strconv.Atoi(number); err != nil || want >= has {
		return fail(name, fmt.Sprintf("%s has %s, counted from 0; %s needs it", filepath.Base(chip), count(has, "channel"), n.device), "name one that it has")
	}
	seen := fmt.Sprintf("%s of %s", filepath.Base(chip), count(has, "channel"))
	file := chip + "/export"
	if _, exported := x.exists(chip + "/pwm" + number); exported {
		seen += ", in use"
		file = chip + "/pwm" + number + "/duty_cycle"
	}
	if info, ok := x.exists(file); ok && !x.user.May(info, machineuser.Write) {
		return fail(name, fmt.Sprintf("%s, which %s may not write", seen, x.user.Name),
			udevRules(x))
	}
	return good(name, "%s, for %s", seen, n.device)
}

// video examines a camera's device file. A camera may be unplugged, so it is a
// fault of today and not of the board.
func (x *examination) video(n need) Finding {
	name := n.kind + " " + n.name
	info, err := os.Stat(x.path(n.name))
	switch {
	case err != nil:
		return fail(name, fmt.Sprintf("there is no %s, %s needs it", n.name, n.device), "plug the camera in; ls /dev/v4l/by-id has the names that stay")
	case info.Mode()&fs.ModeCharDevice == 0 && x.Root == "/":
		return fail(name, n.name+" is not a video device", "name one of /dev/v4l/by-id")
	case !x.user.May(info, machineuser.Read|machineuser.Write):
		return fail(name, fmt.Sprintf("%s, which %s may not open", n.name, x.user.Name), "sudo usermod -aG video "+x.user.Name+", then "+x.restart())
	}
	return good(name, "%s for %s", n.name, n.device)
}

func dash(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
