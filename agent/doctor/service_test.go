package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/agent/machineuser"
	"roomgate/agent/setup"
	"roomgate/drivers/all"
)

// shown is what systemctl show prints of a service.
func shown(state, sub, restarts, status string) string {
	return "LoadState=loaded\nActiveState=" + state + "\nSubState=" + sub + "\nNRestarts=" + restarts + "\nExecMainStatus=" + status + "\nUser=roomgate\nAmbientCapabilities=\n"
}

// TestService: a gateway that does not stay is told, with what it said last.
func TestService(t *testing.T) {
	for name, c := range map[string]struct {
		shown string
		state State
		want  string
		todo  string
	}{
		"crash loop":     {shown("activating", "auto-restart", "17", "1"), Fail, "again and again, 17 times by now: it ended with 1 and said: http cannot listen on :80", "journalctl -u roomgate -e"},
		"between two":    {shown("activating", "start", "1", "1"), Fail, "again and again, 1 time by now", "systemctl restart roomgate"},
		"invalid":        {shown("failed", "failed", "0", "3"), Fail, "has failed and does not start again: it ended with 3", "roomgate check-config"},
		"no right":       {shown("failed", "failed", "0", "3"), Fail, "has failed and does not start again: it ended with 3 and said: ", "do what it said, then"},
		"stopped":        {shown("inactive", "dead", "0", "0"), Warn, "is stopped", "systemctl enable --now roomgate"},
		"it runs":        {shown("active", "running", "0", "0"), OK, "active/running", ""},
		"it still opens": {shown("activating", "start", "0", "0"), OK, "activating/start", ""},
	} {
		x := &examination{Options: Options{Service: ParseService(c.shown)}}
		if name == "invalid" {
			x.ConfigError = &config.Errors{}
		}
		x.Service.Said = "http cannot listen on :80"
		found := service(t.Context(), x)
		if len(found) != 1 || !strings.Contains(found[0].Fix, c.todo) {
			t.Fatalf("%s: found %+v", name, found)
		}
		found[0].is(t, name, c.state, c.want)
	}
	for name, o := range map[string]Options{"none here": {}, "it answers": {Service: ParseService(shown("active", "running", "0", "0")), Building: running()}} {
		if found := service(t.Context(), &examination{Options: o}); found != nil {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

// TestConfigurationOfRootAlone: what root writes with its umask the gateway cannot read.
func TestConfigurationOfRootAlone(t *testing.T) {
	c := example(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "gateway.yaml")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := &examination{Options: Options{Root: tree(t, pi), Config: c, ConfigFile: file, Service: ParseService(shown("active", "running", "0", "0"))},
		user: user{User: machineuser.User{Name: "roomgate", ID: 99998, Group: 997, Groups: []int{997}}}}
	x.Root = "/" // the file is a real one
	found := configuration(t.Context(), x)[0]
	found.is(t, "0600", Fail, "may not be read by roomgate")
	if !strings.Contains(found.Fix, "chmod 640 "+file) || !strings.HasSuffix(found.Fix, "systemctl restart roomgate") {
		t.Errorf("the fix is %q", found.Fix)
	}
	if err := errors.Join(os.Chmod(file, 0o644), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	configuration(t.Context(), x)[0].is(t, "a closed folder", Fail, dir+" (drwx------) may not be entered by roomgate")
	x.user.ID = os.Getuid()
	configuration(t.Context(), x)[0].is(t, "its owner", OK, "valid")
}

// TestSeeds: a seed that was not taken is told with its mistake, and one with another
// name with how to rename it.
func TestSeeds(t *testing.T) {
	for name, c := range map[string]struct {
		files      map[string]string
		want, todo string
	}{
		"refused": {map[string]string{"boot/firmware/roomgate-seed.yaml": "", "run/roomgate-seed/seed.issue": "roomgate: the seed in /boot/firmware has 1 mistake, nothing has changed:\n  roomgate-seed.yaml:1:1: unknown key\n"},
			"/boot/firmware/roomgate-seed.yaml was not taken: roomgate-seed.yaml:1:1: unknown key", "systemctl restart roomgate-seed"},
		"not looked at": {map[string]string{"boot/roomgate-seed.yaml": ""}, "/boot/roomgate-seed.yaml was not taken", "correct it"},
		"by Notepad":    {map[string]string{"boot/firmware/roomgate-seed.yaml.txt": ""}, "its name is not roomgate-seed.yaml", "sudo mv /boot/firmware/roomgate-seed.yaml.txt /boot/firmware/roomgate-seed.yaml"},
		"in capitals":   {map[string]string{"boot/firmware/Roomgate-Seed.YAML": ""}, "its name is not roomgate-seed.yaml", "sudo mv "},
	} {
		found := seeds(t.Context(), &examination{Options: Options{Root: tree(t, c.files)}})
		if len(found) != 1 || !strings.Contains(found[0].Fix, c.todo) {
			t.Fatalf("%s: found %+v", name, found)
		}
		found[0].is(t, name, Fail, c.want)
	}
	if found := seeds(t.Context(), &examination{Options: Options{Root: tree(t, map[string]string{"boot/firmware/roomgate-seed.yaml.done": "", "boot/firmware/config.txt": ""})}}); found != nil {
		t.Errorf("without a seed: %+v", found)
	}
}

// TestLockedCredentials: no owner and no mode lets the service into that folder.
func TestLockedCredentials(t *testing.T) {
	c, err := config.Parse("gateway.yaml", []byte(`gateway: {id: a}
cloud: {url: "mqtts://c.example.com", username: a, password_file: /etc/roomgate/credentials/cloud}
http: {tls: {certificate: /etc/roomgate/tls/a.pem, key: /etc/roomgate/credentials/key}}
spaces:
  - id: 5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e01
    name: Atlas
    devices:
      - {id: atlas-o3, type: o3-sensor, driver: o3-mqtt, options: {address: "10.0.0.31:1883", password_file: /etc/roomgate/credentials/o3}}
`), all.All())
	if err != nil {
		t.Fatal(err)
	}
	x := &examination{Options: Options{Config: c, ConfigFile: "gateway.yaml"}, user: user{}}
	key, _ := x.keyFile("certificate http.tls", "", c.HTTP.TLS.Key)
	for i, f := range append(passwords(t.Context(), x), key) {
		name := []string{"cloud", "o3", "key"}[i]
		f.is(t, name, Fail, "cannot be read by the service")
		if !strings.Contains(f.Fix, "write ${CREDENTIALS_DIRECTORY}/secret_"+name+" in its place into gateway.yaml") {
			t.Errorf("%s: %s", name, f.Fix)
		}
	}
}

// TestLowPort: the service is told to take another port, or to be given the right.
func TestLowPort(t *testing.T) {
	root := tree(t, map[string]string{"proc/sys/net/ipv4/ip_unprivileged_port_start": "1024\n"})
	x := &examination{Options: Options{Root: root, ConfigFile: "gateway.yaml", Service: ParseService(shown("failed", "failed", "0", "1"))}, user: user{User: machineuser.User{Name: "roomgate"}}}
	x.listener(t.Context(), "http", "127.0.0.1:81").is(t, "without the right", Fail, "takes a right that roomgate does not have")
	x.Service.Capabilities = "cap_net_bind_service"
	x.listener(t.Context(), "http", "127.0.0.1:81").is(t, "with it", OK, "is free")
}

// TestPending: after setup the fix is the command that lets it take effect.
func TestPending(t *testing.T) {
	c := example(t)
	for want, p := range map[string]Pending{"sudo systemctl restart roomgate": {true, "cloud.url"}, "sudo systemctl reload roomgate": {Changed: true}} {
		b := running()
		b.Identity, b.Pending = health.Identity{ID: "another"}, &p
		x := &examination{Options: Options{Root: t.TempDir(), Config: c, Building: b, Service: ParseService(shown("active", "running", "0", "0"))}}
		f := gateway(t.Context(), x)[0]
		f.is(t, want, Warn, "the configuration has changed since")
		if f.Fix != want {
			t.Errorf("the fix is %q, want %q", f.Fix, want)
		}
	}
}

// TestWithoutBoard: what no board can serve, once per mistake.
func TestWithoutBoard(t *testing.T) {
	c, err := config.Parse("gateway.yaml", []byte(`gateway: {id: a}
spaces:
  - id: 5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e01
    name: Atlas
    devices:
      - {id: door, type: lock, driver: lock-relay, options: {relay: 17, sense: pin 11, contact: GPIO5}}
      - {id: fan, type: fan, driver: fan-pwm, options: {channel: pwm0, tach: GPIO5}}
      - {id: lamp, type: light, driver: light-pwm, options: {channel: pwmchip0/0}, enabled: false}
      - {id: page, type: meeting-room-display, driver: display-page, options: {page: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01}}
`), all.All())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range WithoutBoard(t.Context(), c, 5*time.Second) {
		got = append(got, c.Naming(i.Device, i.Name)+" "+i.Why)
	}
	for i, want := range []string{"spaces[0].devices[0].options.relay is no name of a line: want GPIO17 ", "spaces[0].devices[0].options.sense is a pin of the header",
		"spaces[0].devices[1].options.channel is no name of a channel", "spaces[0].devices[3].options.page is the id of no meeting space: want 5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e01, that of Atlas", "spaces[0].devices[1].options.tach is the line of door too"} {
		if len(got) != 5 || !strings.HasPrefix(got[i], want) {
			t.Fatalf("want %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	for _, line := range []string{"GPIO17", "pinctrl-rp1/17", "ID_SDA", "P9_11", "PIN_11", "7J1 Header Pin11", "GPIO_GEN0", "gpio17", "aurora.lock.relay"} {
		if why := setup.Misnamed(line); why != "" {
			t.Errorf("%s %s", line, why)
		}
	}
}
