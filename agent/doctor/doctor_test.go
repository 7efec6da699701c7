package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/goldentest"
	"roomgate/agent/health"
	"roomgate/drivers"
	"roomgate/drivers/all"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree makes files below a temporary root. A name that ends in "@" is a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, strings.TrimSuffix(name, "@"))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if strings.HasSuffix(name, "@") {
			err = errors.Join(err, os.MkdirAll(filepath.Join(root, text), 0o755), os.Symlink(filepath.Join(root, text), path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o666), os.Chmod(path, 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// pi is a Raspberry Pi 5 as far as the doctor looks.
var pi = map[string]string{
	"sys/firmware/devicetree/base/model":     "Raspberry Pi 5 Model B Rev 1.0\x00",
	"proc/sys/kernel/osrelease":              "6.12.34+rpt-rpi-2712\n",
	"proc/meminfo":                           "MemTotal:        4147392 kB\nMemAvailable:    3712000 kB\n",
	"proc/net/route":                         "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\nend0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\n",
	"etc/passwd":                             "root:x:0:0::/root:/bin/sh\nroomgate:x:998:997::/var/lib/roomgate:/usr/sbin/nologin\n",
	"etc/group":                              "root:x:0:\nroomgate:x:997:\ngpio:x:986:roomgate\ni2c:x:987:roomgate,pi\nspi:x:988:pi\n",
	"dev/i2c-1":                              "",
	"dev/spidev10.0":                         "",
	"sys/class/i2c-dev/i2c-1/name":           "Synopsys DesignWare I2C adapter\n",
	"sys/class/pwm/pwmchip0/npwm":            "4\n",
	"sys/class/pwm/pwmchip0/export":          "",
	"sys/class/pwm/pwmchip0/device@":         "sys/devices/1f00098000.pwm",
	"sys/class/pwm/pwmchip0/pwm1/duty_cycle": "0\n",
	"sys/class/rtc/rtc0/name":                "rpi-rtc rpi-rtc\n",
	"sys/class/watchdog/watchdog0/identity":  "Broadcom BCM2835 Watchdog timer\n",
	"sys/class/watchdog/watchdog0/state":     "active\n",
	"sys/class/watchdog/watchdog0/timeout":   "15\n",

	"sys/block/mmcblk0/device/type":         "MMC\n",
	"sys/block/mmcblk0/device/name":         "DG4032\n",
	"sys/block/mmcblk0/device/life_time":    "0x03 0x09\n",
	"sys/block/mmcblk0/device/pre_eol_info": "0x01\n",
	"sys/block/mmcblk0boot0/size":           "8192\n",
}

// rp1 is the chip of that board, with some lines taken.
func rp1() []Chip {
	held := map[string]string{"GPIO17": "roomgate", "GPIO27": "button", "GPIO5": "roomgate", "GPIO6": "roomgate", "GPIO24": "roomgate"}
	c := Chip{Path: "/nowhere/gpiochip0", Label: "pinctrl-rp1"}
	for _, n := range []string{"ID_SDA", "GPIO5", "GPIO6", "GPIO17", "GPIO23", "GPIO24", "GPIO27"} {
		c.Lines = append(c.Lines, Line{n, held[n] != "", held[n]})
	}
	return []Chip{c}
}

func example(t *testing.T) *config.Config {
	t.Helper()
	c, err := config.Load("testdata/gateway.yaml", all.All(), config.Setting{Key: "data", Value: t.TempDir(), Origin: "test"},
		config.Setting{Key: "http.listen", Value: "127.0.0.1:0", Origin: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// running is a gateway of the example that has been up for a day.
func running() *Building {
	record := func(name, value, status, reason string) device.Reading {
		return device.Reading{Record: device.Record{Device: name, Value: value, Status: status}, Reason: reason}
	}
	return &Building{Identity: health.Identity{ID: "example"},
		Report: health.Report{UptimeS: 86400, Version: "1.2.3", StoreState: health.StoreState{StoreWritten: 48 << 20}},
		Devices: []Device{
			{"Atlas", drivers.TypeLock, true, []device.Reading{record("lock", "closed", device.Online, "")}},
			{"Atlas", drivers.TypeCamera, true, []device.Reading{record("camera", "", device.Offline, "no route to host")}},
			{"Atlas", drivers.TypeFan, false, nil},
			{"Bora", drivers.TypeO3, true, []device.Reading{record("o3-sensor", "", device.Online, ""),
				record("temperature", "21.5", device.Normal, ""), record("ring-light", "", device.Offline, "")}},
		}}
}

// differs from machine to machine.
var differs = regexp.MustCompile(`^(addresses|clock|disk|data folder)$`)

func golden(t *testing.T, name string, found []Finding) {
	t.Helper()
	found = slices.DeleteFunc(found, func(f Finding) bool { return differs.MatchString(f.Name) })
	got, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = regexp.MustCompile(`(amd64|386|arm64|arm)\)`).ReplaceAll(append(got, '\n'), []byte("ARCH)"))
	goldentest.Compare(t, name+".json", got)
}

// A board with a running gateway, and everything on it that can be wrong.
func TestBoard(t *testing.T) {
	golden(t, "board", Examine(t.Context(), Options{Root: tree(t, pi), Chips: rp1, Config: example(t),
		ConfigFile: "gateway.yaml", Building: running(), Deadline: 5 * time.Second}))
}

// A machine that is no board, without and with a configuration of one.
func TestNoBoard(t *testing.T) {
	root := tree(t, map[string]string{"proc/sys/kernel/osrelease": "6.1.0-amd64\n", "proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\n",
		"sys/class/dmi/id/product_name": "Standard PC\n", "etc/passwd": "roomgate:x:998:997::/:/bin/false\n", "etc/group": "roomgate:x:997:\n"})
	o := Options{Root: root, ConfigFile: "gateway.yaml", ConfigError: fs.ErrNotExist, BuildingError: errors.New("no gateway runs here: start one"),
		Deadline: 5 * time.Second}
	bare := Examine(t.Context(), o)
	if Worst(bare) != Warn {
		t.Errorf("a machine without a task is %s: %+v", Worst(bare), bare)
	}
	golden(t, "bare", bare)
	o.Config, o.ConfigError = example(t), nil
	golden(t, "stray", Examine(t.Context(), o))
}

// A check that hangs costs its deadline and is told; the others are there.
func TestAHangingCheckIsTold(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	o := Options{Root: t.TempDir(), Deadline: 50 * time.Millisecond, ConfigError: fs.ErrNotExist, BuildingError: errors.New("none"),
		Chips: func() []Chip { <-release; return nil }}
	found := Examine(t.Context(), o)
	i := slices.IndexFunc(found, func(f Finding) bool { return f.Name == "gpio chips" })
	if i < 0 || found[i].State != Fail || !strings.Contains(found[i].Seen, "no answer within 50ms") {
		t.Errorf("found %+v", found)
	}
	if len(found) < 8 {
		t.Errorf("only %d findings beside it", len(found))
	}
}

// What the drivers of the demo open is what its file names.
func TestSurvey(t *testing.T) {
	c, err := config.Load("../../configs/demo.yaml", all.All())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	needs, wrong := survey(context.Background(), c, time.Second)
	if len(wrong) > 0 {
		t.Errorf("not opened: %v", wrong)
	}
	for _, n := range needs {
		names = append(names, n.kind+" "+n.name)
	}
	for _, want := range []string{"line aurora.lock.relay", "line aurora.lock.contact", "channel aurora.fan", "line aurora.fan.tach",
		"bus borealis.i2c", "port borealis.o3.ring", "line borealis.display.backlight"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
}

// Options that name a file which is not there are told with the device.
func TestOptions(t *testing.T) {
	c, err := config.Parse("gateway.yaml", []byte(`gateway: {id: a}
spaces:
  - id: 5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e01
    name: Atlas
    devices:
      - {id: atlas-camera, type: camera, driver: camera-http, options: {url: "https://10.0.0.41/", ca_file: /nowhere/ca.pem}}
`), all.All())
	if err != nil {
		t.Fatal(err)
	}
	x := &examination{Options: Options{Config: c, ConfigFile: "gateway.yaml"}}
	x.needs, x.wrong = survey(t.Context(), c, time.Second)
	found := options(t.Context(), x)
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	found[0].is(t, "no file", Fail, "/nowhere/ca.pem")
	x.wrong["atlas-camera"] = fs.ErrPermission
	options(t.Context(), x)[0].is(t, "not ours to read", Warn, "as root")
}

// A part that a hub was bought without is not at fault.
func TestNotFitted(t *testing.T) {
	d := Device{"Bora", drivers.TypeO3, true, []device.Reading{{Record: device.Record{Device: "buzzer", Status: device.Offline},
		SubDevice: drivers.SubBuzzer, Reason: "buzzer: " + drivers.ErrUnsupported.Error()}}}
	d.finding().is(t, "without", OK, "buzzer not fitted")
}

// A hub that refuses its user says so once, whatever parts it has, its cable is good, and
// the file is named in which the password is.
func TestRefusedPassword(t *testing.T) {
	reading := func(name, reason string) device.Reading {
		return device.Reading{Record: device.Record{Device: name, Status: device.Offline}, Reason: reason}
	}
	refused := fmt.Sprintf("hub at 10.0.0.7:1883 refuses user \"u\" %v", drivers.ErrPassword)
	d := Device{"Bora", drivers.TypeO3, true, []device.Reading{reading("o3-sensor", refused), reading("buzzer", refused), reading("ring-light", "dark")}}
	for said, want := range map[string]string{
		"password_file: /etc/hub":                                "write the right password into /etc/hub (sudo tee /etc/hub: type it, then return, then control and D), then sudo systemctl restart roomgate",
		"password_file: ${CREDENTIALS_DIRECTORY}/secret_bora-o3": "write the right password into /etc/roomgate/credentials/bora-o3 (sudo tee /etc/roomgate/credentials/bora-o3: type it, then return, then control and D), then sudo systemctl restart roomgate",
		"password: x": "correct username and password of bora-o3 in gateway.yaml, then sudo systemctl restart roomgate",
	} {
		c, err := config.Parse("gateway.yaml", []byte("gateway: {id: a}\nspaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: Bora, devices: [{id: bora-o3, type: o3-sensor, driver: o3-mqtt, options: {address: \"10.0.0.7:1883\", "+strings.Replace(said, ": ", ": \"", 1)+"\"}}]}]\n"), all.All())
		if err != nil {
			t.Fatal(err)
		}
		x := &examination{Options: Options{Config: c, ConfigFile: "gateway.yaml", Service: Service{Loaded: true}, Building: &Building{Devices: []Device{d}}}}
		f := devices(t.Context(), x)[0]
		if seen := "o3-sensor, buzzer offline: " + refused + "; ring-light offline: dark"; f.Seen != seen || f.Fix != want {
			t.Errorf("it says %q, and to %s; want %q and to %s", f.Seen, f.Fix, seen, want)
		}
	}
}

// What there is one of is said so.
func TestOneOfThem(t *testing.T) {
	x := &examination{Options: Options{Root: t.TempDir(), Building: &Building{}}, needs: []need{{kind: kindLine, name: "GPIO71"}}}
	x.Building.CloudConnected, x.Building.OutboxDepth = true, 1
	x.unnamed()[0].is(t, "outbox", OK, "the gateway is connected, 1 message waits")
	x.chips(nil, 1).is(t, "chips", Fail, "names 1 line of one")
	if f := board(t.Context(), x)[0]; f.Fix != "run the gateway on the board to which GPIO71 of the configuration belongs" {
		t.Errorf("of one line: %s", f.Fix)
	}
}

func TestWorst(t *testing.T) {
	for want, states := range map[State][]State{OK: {}, Warn: {OK, Warn, OK}, Fail: {Warn, Fail, OK}} {
		var all []Finding
		for _, s := range states {
			all = append(all, Finding{State: s})
		}
		if got := Worst(all); got != want {
			t.Errorf("%v is %s, want %s", states, got, want)
		}
	}
}
