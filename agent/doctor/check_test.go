package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/agent/machineuser"
)

func (f Finding) is(t *testing.T, what string, state State, words string) {
	t.Helper()
	if f.State != state || !strings.Contains(f.Seen+" "+f.Fix, words) {
		t.Errorf("%s: %+v, want %s with %q", what, f, state, words)
	}
	if (f.Fix == "") != (f.State == OK) {
		t.Errorf("%s: %s with the fix %q", what, f.State, f.Fix)
	}
}

func TestKernel(t *testing.T) {
	for release, want := range map[string]State{"5.9.16": Fail, "5.10.0-28-arm64": OK, "6.1": OK, "4.19.0": Fail, "": Warn, "new": Warn} {
		x := &examination{Options: Options{Root: tree(t, map[string]string{"proc/sys/kernel/osrelease": release})}}
		kernel(t.Context(), x)[0].is(t, release, want, "")
	}
}

func TestMemory(t *testing.T) {
	for text, want := range map[string]State{"MemTotal: 100 kB\nMemAvailable: 90 kB": Fail, "MemTotal: 99999 kB\nMemAvailable: 60000 kB": Warn,
		"MemTotal: 999999 kB\nMemAvailable: 600000 kB": OK, "": Warn} {
		x := &examination{Options: Options{Root: tree(t, map[string]string{"proc/meminfo": text})}}
		memory(t.Context(), x)[0].is(t, text, want, "")
	}
}

func TestCard(t *testing.T) {
	for _, c := range []struct {
		life, end string
		state     State
		words     string
	}{
		{"0x01 0x01", "0x01", OK, "0 to 10 %"},
		{"0x01 0x09", "0x01", Warn, "80 to 90 %"},
		{"0x01 0x02", "0x02", Warn, "80 % of the spare"},
		{"0x0b 0x01", "0x01", Fail, "used up"},
		{"0x01 0x01", "0x03", Fail, "90 % of the spare"},
		{"", "", OK, "does not tell"},
		{"0x00", "0xff", OK, "not told"},
	} {
		x := &examination{Options: Options{Root: tree(t, map[string]string{
			"sys/block/mmcblk0/device/life_time": c.life, "sys/block/mmcblk0/device/pre_eol_info": c.end})}}
		x.card("mmcblk0").is(t, c.life+" "+c.end, c.state, c.words)
	}
}

func TestWritten(t *testing.T) {
	for _, c := range []struct {
		up, bytes int64
		state     State
		words     string
	}{{60, 1 << 30, OK, "too early"}, {3600, 1 << 20, OK, "24 MiB a day"}, {3600, 1 << 30, Warn, "24 GiB a day"}} {
		x := &examination{Options: Options{Building: &Building{Report: health.Report{UptimeS: c.up, StoreState: health.StoreState{StoreWritten: c.bytes}}}}}
		x.written().is(t, c.words, c.state, c.words)
	}
}

func TestClock(t *testing.T) {
	x := &examination{}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	x.time(now, true).is(t, "good", OK, "synchronized")
	x.time(now, false).is(t, "alone", Warn, "not believed")
	x.time(time.Unix(100, 0), false).is(t, "1970", Fail, "is past")
	x.Building = &Building{Report: health.Report{Clock: health.Clock{Now: now, Trusted: true}}}
	x.time(now, false).is(t, "offline for a day", Warn, "still believed")
	if seen := x.time(now, false).Seen; strings.Contains(seen, "hours") {
		t.Errorf("nobody knows since when: %q", seen)
	}
	for jump, words := range map[int64]string{87600 * 3600: "87600 h ahead of", -48 * 3600: "48 h behind"} {
		x.Building.Clock = health.Clock{Now: now, Reason: "jumped", JumpS: jump}
		x.time(now, true).is(t, words, Fail, words)
	}
	x.Building = nil
	c := config.Default()
	c.Clock.Trust = config.TrustAlways
	x.Config = &c
	x.time(now, false).is(t, "always", Warn, "clock.trust")
}

// Rights are those of the gateway's user, not of who asks.
func TestRights(t *testing.T) {
	root := tree(t, pi)
	x := &examination{Options: Options{Root: root}, user: user{User: machineuser.User{Name: "roomgate", ID: 4711}}}
	n := need{kindI2C, "i2c-1", "hub"}
	x.node(n, "", "").is(t, "open to all", OK, "/dev/i2c-1")
	if err := os.Chmod(filepath.Join(root, "dev/i2c-1"), 0o660); err != nil {
		t.Fatal(err)
	}
	x.node(n, "", "").is(t, "others", Fail, "roomgate may not open")
	x.user.Groups = []int{os.Getgid()}
	x.node(n, "", "").is(t, "by group", OK, "")
	if err := os.Chmod(filepath.Join(root, "sys/class/pwm/pwmchip0/export"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.channel(need{kindPWM, "1f00098000.pwm/2", "fan"}).is(t, "pwm by device", Fail, "may not write")
	x.channel(need{kindPWM, "pwmchip0/1", "fan"}).is(t, "exported", OK, "in use")
	x.channel(need{kindPWM, "pwmchip0/4", "fan"}).is(t, "beyond", Fail, "4 channels")
}

func TestWhom(t *testing.T) {
	files := map[string]string{"proc/77/status": "Name:\troomgate\nUid:\t998\t998\t998\t998\nGid:\t997\t997\t997\t997\nGroups:\t986 987 \n"}
	for name, text := range pi {
		files[name] = text
	}
	x := &examination{Options: Options{Root: tree(t, files), ProcessID: 77}}
	x.user = x.findUser()
	runsAs(t.Context(), x)[0].is(t, "running", OK, "roomgate (998), groups gpio i2c roomgate: the running")
	x.ProcessID = 0
	x.user = x.findUser()
	runsAs(t.Context(), x)[0].is(t, "service", OK, "the service's user")
	x.ProcessID, x.user.ID = 77, 0
	runsAs(t.Context(), x)[0].is(t, "root", Warn, "root is not needed")
}

func TestHeld(t *testing.T) {
	x := &examination{}
	x.held("l", "here", Line{"a", false, ""}).is(t, "free", OK, "free")
	x.held("l", "here", Line{"a", true, "roomgate"}).is(t, "a stranger's gateway", Warn, "--data")
	x.held("l", "here", Line{"a", true, "spi0 CS0"}).is(t, "taken", Fail, `"spi0 CS0"`)
	x.Building = running()
	x.held("l", "here", Line{"a", true, "roomgate"}).is(t, "ours", OK, "held by the gateway")
	x.held("l", "here", Line{"a", false, ""}).is(t, "not ours", Warn, "not held")
}

// Two chips with one name are told, as the drivers refuse them.
func TestLineOnTwoChips(t *testing.T) {
	x := &examination{}
	chips := append(rp1(), Chip{Path: "/dev/gpiochip1", Label: "expander", Lines: []Line{{Name: "GPIO23"}}})
	x.line(chips, need{kindLine, "GPIO23", "fan"}).is(t, "twice", Fail, "label")
	x.line(chips, need{kindLine, "expander/0", "fan"}).is(t, "by label", OK, "free")
	x.line(chips, need{kindLine, "expander/1", "fan"}).is(t, "beyond", Fail, "no chip")
}

func TestFastCommit(t *testing.T) {
	block := make([]byte, 4096)
	binary.LittleEndian.PutUint16(block[1024+0x38:], 0xef53)
	root := tree(t, map[string]string{"dev/mmcblk0p2": string(block)})
	x := &examination{Options: Options{Root: root}}
	m := mount{"/", "ext4", "/dev/mmcblk0p2", "rw"}
	if x.fastCommit(m) {
		t.Error("seen where it is not")
	}
	binary.LittleEndian.PutUint32(block[1024+0x5c:], 0x400)
	if err := os.WriteFile(filepath.Join(root, "dev/mmcblk0p2"), block, 0o600); err != nil {
		t.Fatal(err)
	}
	if !x.fastCommit(m) {
		t.Error("not seen")
	}
}

func TestMountOf(t *testing.T) {
	x := &examination{Options: Options{Root: tree(t, map[string]string{"proc/self/mountinfo": "22 1 179:2 / / rw,noatime - ext4 /dev/mmcblk0p2 rw\n" +
		"30 22 179:3 / /var/lib ro,noatime shared:1 - vfat /dev/mmcblk0p3 rw\n"})}}
	if m := x.mountOf("/var/lib/roomgate"); m != (mount{"/var/lib", "vfat", "/dev/mmcblk0p3", "ro,noatime,rw"}) {
		t.Errorf("got %+v", m)
	}
	if m := x.mountOf("/var/library"); m.point != "/" {
		t.Errorf("got %+v", m)
	}
}

func TestListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &examination{}
	x.listener(t.Context(), "http", l.Addr().String()).is(t, "taken", Fail, "taken")
	x.Building = &Building{}
	x.listener(t.Context(), "http", l.Addr().String()).is(t, "ours", OK, "answers")
	l.Close()
	x.listener(t.Context(), "http", l.Addr().String()).is(t, "deaf", Fail, "does not answer")
}

// A gateway is looked for where it was told to listen, not where it would listen
// next time.
func TestListenerIsWhereTheGatewayWasTold(t *testing.T) {
	for _, c := range []struct{ cmdline, environ, want string }{
		{"roomgate\x00run\x00", "HOME=/\x00", ":8080"},
		{"roomgate\x00run\x00--listen\x00:81\x00", "ROOMGATE_LISTEN=:82\x00", ":81"},
		{"roomgate\x00run\x00--listen=:81\x00--data=/d\x00", "", ":81"},
		{"roomgate\x00run\x00--listen", "ROOMGATE_LISTEN=:82\x00", ":82"},
		{"roomgate\x00run\x00--broker=:81\x00", "HOME=/\x00ROOMGATE_LISTEN=\x00", ":8080"},
	} {
		x := &examination{Options: Options{Root: tree(t, map[string]string{"proc/7/cmdline": c.cmdline, "proc/7/environ": c.environ}), ProcessID: 7}}
		if got := x.told("listen", ":8080"); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.cmdline, c.environ, got, c.want)
		}
		if x.ProcessID = 0; x.told("listen", ":8080") != ":8080" {
			t.Error("no gateway runs, and one is looked for elsewhere")
		}
	}
}

func TestCloudBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	c := config.Default()
	x := &examination{Options: Options{Config: &c}}
	if found := cloudBroker(t.Context(), x); found != nil {
		t.Errorf("no cloud: %+v", found)
	}
	c.Cloud.URL = config.Brokers("mqtt://" + l.Addr().String())
	cloudBroker(t.Context(), x)[1].is(t, "plain", OK, "answers")
	x.Building = running()
	cloudBroker(t.Context(), x)[1].is(t, "not connected", Fail, "not connected")
	c.Cloud.URL = config.Brokers("mqtts://" + l.Addr().String())
	cloudBroker(t.Context(), x)[1].is(t, "no TLS there", Fail, "certificate")
	c.Cloud.URL = "mqtts://127.0.0.1:1"
	cloudBroker(t.Context(), x)[1].is(t, "nobody", Fail, "refused")
	c.Cloud.URL, c.Cloud.Acks = config.Brokers("mqtt://127.0.0.1:1, mqtt://"+l.Addr().String()), config.AcksBroker
	x.Building.CloudConnected = true
	found := cloudBroker(t.Context(), x)
	found[1].is(t, "one of two", Warn, "refused")
	found[3].is(t, "the other", OK, "the gateway is connected")
	found[4].is(t, "the word of the broker", Warn, "one that the broker drops")
	x.Building.CloudConnected, c.Cloud.Acks = false, config.AcksBackend
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Cloud.URL = "mqtts://cloud.example.invalid"
	cloudBroker(ctx, x)[0].is(t, "no name", Fail, "cloud.example.invalid")
}

func TestCertificate(t *testing.T) {
	x := &examination{Options: Options{Root: t.TempDir()}, user: user{User: machineuser.User{Name: "roomgate", ID: 4711, Groups: []int{os.Getgid()}}}}
	host, _ := os.Hostname()
	for _, c := range []struct {
		name     string
		from, to time.Duration
		host     string
		mode     os.FileMode
		state    State
		words    string
	}{
		{"good", -time.Hour, 90 * 24 * time.Hour, host, 0o640, OK, "until"},
		{"ends", -time.Hour, 24 * time.Hour, host, 0o640, Warn, "renew"},
		{"over", -2 * time.Hour, -time.Hour, host, 0o640, Fail, "is over"},
		{"early", time.Hour, 2 * time.Hour, host, 0o640, Fail, "not valid before"},
		{"elsewhere", -time.Hour, 90 * 24 * time.Hour, "other.example", 0o640, Warn, "neither"},
		{"public key file", -time.Hour, 90 * 24 * time.Hour, host, 0o644, Fail, "open to everybody"},
		{"private", -time.Hour, 90 * 24 * time.Hour, host, 0o600, Fail, "may not be read"},
	} {
		file, key := issue(t, c.host, c.from, c.to)
		if err := os.Chmod(key, c.mode); err != nil {
			t.Fatal(err)
		}
		x.certificate("http.tls", file, key, true).is(t, c.name, c.state, c.words)
	}
	file, _ := issue(t, host, -time.Hour, time.Hour)
	_, other := issue(t, host, -time.Hour, time.Hour)
	x.certificate("http.tls", file, other, true).is(t, "another's key", Fail, "made with")
	x.certificate("http.tls", other, "", true).is(t, "no certificate", Fail, "has no certificate")
	x.certificate("http.tls", file+"x", "", true).is(t, "no file", Fail, "no such file")
}

func issue(t *testing.T, host string, from, to time.Duration) (file, keyFile string) {
	t.Helper()
	key, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host},
		NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to)}
	der, err2 := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	raw, err3 := x509.MarshalPKCS8PrivateKey(key)
	dir := t.TempDir()
	file, keyFile = filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	err := errors.Join(err1, err2, err3,
		os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o640))
	if err != nil {
		t.Fatal(err)
	}
	return file, keyFile
}

func TestPassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloud")
	c := config.Default()
	c.Cloud.PasswordFile = file
	c.Broker.Listen, c.Broker.Users = "127.0.0.1:0", []config.User{{Name: "hub", PasswordFile: "/run/credentials/roomgate.service/hub"}}
	c.SMTP.PasswordFile = "${CREDENTIALS_DIRECTORY}/secret_that-nobody-wrote"
	x := &examination{Options: Options{Root: t.TempDir(), Config: &c}, user: user{User: machineuser.User{Name: "roomgate", ID: 4711}}}
	found := passwords(t.Context(), x)
	found[0].is(t, "none", Fail, "no such file")
	found[1].is(t, "no source of a credential", Fail, "/etc/roomgate/credentials/that-nobody-wrote")
	found[2].is(t, "a credential", OK, "only the service")
	for mode, want := range map[os.FileMode]State{0o644: Warn, 0o600: Fail} {
		if err := errors.Join(os.WriteFile(file, []byte("secret"), mode), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		passwords(t.Context(), x)[0].is(t, mode.String(), want, file)
	}
	x.user.Groups = []int{os.Getgid()}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	passwords(t.Context(), x)[0].is(t, "good", OK, file)
}

func TestDataFolder(t *testing.T) {
	c := config.Default()
	x := &examination{Options: Options{Config: &c}}
	c.Data = filepath.Join(t.TempDir(), "data")
	dataFolder(t.Context(), x)[0].is(t, "none", Warn, "not there yet")
	if err := os.Mkdir(c.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	dataFolder(t.Context(), x)[0].is(t, "good", OK, "no database yet")
	if err := os.Chmod(c.Data, 0o755); err != nil {
		t.Fatal(err)
	}
	dataFolder(t.Context(), x)[0].is(t, "open", Warn, "chmod 700")
	x.user = user{User: machineuser.User{Name: "roomgate", ID: 4711}}
	dataFolder(t.Context(), x)[0].is(t, "not ours", Fail, "chown")
}

func TestRoomUsers(t *testing.T) {
	c := config.Default()
	x := &examination{Options: Options{Config: &c}}
	c.Broker.Listen = "127.0.0.1:0"
	if found := roomUsers(t.Context(), x); found != nil {
		t.Errorf("%v without users", found)
	}
	c.Broker.Users = []config.User{{Name: "hub"}}
	roomUsers(t.Context(), x)[0].is(t, "no list", Warn, `no list of topics`)
	if fix := roomUsers(t.Context(), x)[0].Fix; fix != `write into it publish: ["hub/#"], subscribe: ["hub/#"]` {
		t.Error(fix)
	}
	c.Broker.Users[0].Publish, c.Broker.Users[0].Subscribe = []string{"hub/#"}, []string{}
	roomUsers(t.Context(), x)[0].is(t, "a list", OK, "1 user")
}
