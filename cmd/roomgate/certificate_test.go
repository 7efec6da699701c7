//go:build integration

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/authority"
	"roomgate/cloud/backend"
	"roomgate/cloud/backend/fleet"
)

// certified is a cell whose gateways show certificates: its broker, the broker for those without one,
// and a gateway with a demo's rooms.
type certifiedCell struct {
	t           *testing.T
	dir         string
	main, first string // ports with TLS
	here, there string // ports of the backend, at the one and the other
	broker      *exec.Cmd
	gateway     *exec.Cmd
}

func openCertifiedCell(t *testing.T) *certifiedCell {
	t.Helper()
	c := &certifiedCell{t: t, dir: t.TempDir()}
	for _, port := range []*string{&c.main, &c.first, &c.here, &c.there} {
		_, *port, _ = net.SplitHostPort(freeAddress(t))
	}
	c.run("cloud", "ca", "init", "ca")
	c.run("cloud", "cell", ".", "demo")
	c.serverCertificate()
	for _, name := range []string{authority.RootFile, authority.ListFile} {
		c.copy(filepath.Join(c.dir, "ca", name), name)
	}
	c.copy(filepath.Join("..", "..", "configs", "mosquitto", "first.acl"), "first.acl")
	c.broker = c.mosquitto("certificates.conf", "8883", c.main, "1883", c.here)
	c.mosquitto("first.conf", "8884", c.first, "1882", c.there)
	return c
}

// run runs the program in the cell's folder.
func (c *certifiedCell) run(args ...string) string {
	c.t.Helper()
	out, err := c.command(args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("roomgate %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (c *certifiedCell) command(args ...string) *exec.Cmd {
	cmd := exec.Command("roomgate", args...)
	password, _ := os.ReadFile(filepath.Join(c.dir, "backend@1.password"))
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "ROOMGATE_CLOUD_PASSWORD="+strings.TrimSpace(string(password)))
	return cmd
}

func (c *certifiedCell) copy(from, name string) {
	c.t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(c.dir, name), raw, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// serverCertificate makes that of the brokers, and whom the gateway trusts.
func (c *certifiedCell) serverCertificate() {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the broker"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		c.t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"server.pem": {Type: "CERTIFICATE", Bytes: der}, "server.key": {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(filepath.Join(c.dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

// mosquitto starts Debian's broker with an example configuration, at other ports.
func (c *certifiedCell) mosquitto(name string, ports ...string) *exec.Cmd {
	c.t.Helper()
	path := "/usr/sbin/mosquitto"
	if _, err := os.Stat(path); err != nil {
		c.t.Skip("mosquitto is not installed: make test-all installs it")
	}
	raw, err := os.ReadFile(filepath.Join("..", "..", "configs", "mosquitto", name))
	if err != nil {
		c.t.Fatal(err)
	}
	text := strings.ReplaceAll(string(raw), "persistence true", "persistence false")
	for i := 0; i < len(ports); i += 2 {
		if !strings.Contains(text, "listener "+ports[i]) {
			c.t.Fatalf("%s has no listener %s", name, ports[i])
		}
		text = strings.Replace(text, "listener "+ports[i], "listener "+ports[i+1], 1)
	}
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte("user root\n"+text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(path, "-c", name)
	cmd.Dir = c.dir
	startProcess(c.t, cmd)
	for i := 1; i < len(ports); i += 2 {
		awaitThat(c.t, "mosquitto listens at "+ports[i], func() bool {
			conn, err := net.Dial("tcp", "127.0.0.1:"+ports[i])
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		})
	}
	return cmd
}

// start starts the gateway.
func (c *certifiedCell) start() {
	c.t.Helper()
	demo, err := os.ReadFile(filepath.Join("..", "..", "configs", "demo.yaml"))
	if err != nil {
		c.t.Fatal(err)
	}
	text := fmt.Sprintf("cloud: {url: 'mqtts://127.0.0.1:%s', enrol_url: 'mqtts://127.0.0.1:%s', ca_file: server.pem, heartbeat: 1s}\n", c.main, c.first)
	if err := os.WriteFile(filepath.Join(c.dir, "gateway.yaml"), append([]byte(text), demo...), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.gateway = startProcess(c.t, c.command("demo", "--config", "gateway.yaml", "--data", "data", "--listen", "127.0.0.1:0", "--broker", "127.0.0.1:0", "--cloud", "mqtts://127.0.0.1:"+c.main, "--verbose"))
	awaitThat(c.t, "the gateway runs", func() bool { return c.command("claim", "--data", "data").Run() == nil })
}

// claim brings the code at the broker for gateways without a certificate.
func (c *certifiedCell) claim() {
	c.t.Helper()
	out := c.run("cloud", "claim", "demo", c.code(), "--organization", "Acme", "--ca", "ca", "--cloud", "mqtt://127.0.0.1:"+c.there, "--username", "backend@1")
	if !strings.Contains(out, "gateway demo belongs to Acme, and has its certificate\n") {
		c.t.Fatal(out)
	}
}

// doctor is the line of the doctor about something.
func (c *certifiedCell) doctor(about string) string {
	out, _ := c.command("doctor", "--data", "data", "--config", "gateway.yaml").Output()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, about) {
			return line
		}
	}
	return ""
}

// TestCertificatesAtMosquitto: who is claimed gets a certificate, the broker lets nobody in without one, it is
// renewed under load without a lost row, also over kill -9, and one that is revoked is refused by that name.
func TestCertificatesAtMosquitto(t *testing.T) {
	c := openCertifiedCell(t)
	c.start()
	c.claim()
	awaitThat(t, "the certificate is good", func() bool { return strings.Contains(c.doctor("cloud certificate"), "it is good until") })

	ca, err := authority.Open(filepath.Join(c.dir, "ca"))
	if err != nil {
		t.Fatal(err)
	}
	ca.Life = 16 * time.Second // of what is given from now on
	f, at := c.serve(ca, "fleet", c.here), c.serve(ca, "first", c.there)
	awaitThat(t, "the fleet hears the gateway and its certificate", func() bool { g := listed(f); return g.Online && g.Certificate != nil })

	// The first one is good for 90 days, so that a second claim has to bring one that is good for seconds.
	c.run("claim", "--release", "--data", "data")
	code := c.code()
	if _, err := at.Claim(t.Context(), fleet.Claim{Gateway: "demo", Code: code, Organization: "Acme"}); err != nil {
		t.Fatal(err)
	}
	sent := c.load()
	c.renewals(ca, 3)
	c.kill()
	c.start()
	c.renewals(ca, 2)

	// One that has ended while the gateway was off: it gets another one where gateways have none.
	c.kill()
	awaitThat(t, "its certificate has ended", func() bool { return time.Now().After(c.issued(ca).Until) })
	c.start()
	c.renewals(ca, 2)
	commands := sent()
	awaitThat(t, "the gateway keeps nothing for the fleet", func() bool { g := listed(f); return g.Online && g.Backlog == 0 })
	if n, wrong := stored(t, f); len(wrong) > 0 || commands < 100 {
		t.Errorf("%d commands, %d rows, missing or twice %v", commands, n, wrong)
	} else {
		t.Logf("%d commands, %d rows", commands, n)
	}

	// Revoked: the broker cuts it off, the gateway says why, and the fleet shows it.
	c.run("cloud", "ca", "revoke", "ca", "demo")
	c.copy(filepath.Join(c.dir, "ca", authority.ListFile), authority.ListFile)
	c.restart()
	awaitThat(t, "the doctor says that it is revoked", func() bool {
		line := c.doctor("cloud certificate")
		return strings.Contains(line, "fail") && strings.Contains(line, "revoked")
	})
	awaitThat(t, "the fleet says so", func() bool { return !listed(f).Revoked.IsZero() })
	if out := c.run("cloud", "ca", "list", "ca"); !strings.Contains(out, "revoked") {
		t.Error(out)
	}
}

// serve runs the reference backend with an authority.
func (c *certifiedCell) serve(ca *authority.Authority, name, port string) *fleet.Fleet {
	c.t.Helper()
	f, err := fleet.Open(fleet.Options{Path: filepath.Join(c.dir, name+".db"), Key: "secret", Rows: 100_000, Authority: ca, Log: slog.New(slog.DiscardHandler),
		Broker: backend.Options{URL: "mqtt://127.0.0.1:" + port, ClientID: name, Username: "backend@1", Password: c.password}})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	c.t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, f.Close()); err != nil {
			c.t.Error(err)
		}
	})
	return f
}

// password is the backend's.
func (c *certifiedCell) password() (string, error) {
	raw, err := os.ReadFile(filepath.Join(c.dir, "backend@1.password"))
	return strings.TrimSpace(string(raw)), err
}

// listed is the gateway as a fleet shows it.
func listed(f *fleet.Fleet) (g fleet.Gateway) {
	for _, g = range f.Gateways() {
	}
	return g
}

// issued is the last certificate of the gateway.
func (c *certifiedCell) issued(ca *authority.Authority) (g authority.Gateway) {
	c.t.Helper()
	all, err := ca.Gateways()
	if err != nil || len(all) != 1 {
		c.t.Fatal(all, err)
	}
	return all[0]
}

// renewals waits until so many more certificates are given, and the last of them is shown.
func (c *certifiedCell) renewals(ca *authority.Authority, n int) {
	c.t.Helper()
	for range n {
		before := c.issued(ca).Serial
		awaitThat(c.t, "another certificate is given", func() bool { return c.issued(ca).Serial != before })
	}
	serial := c.issued(ca).Serial
	awaitThat(c.t, "it is shown", func() bool {
		out, _ := c.command("events", "--type", "cloudCertified", "--data", "data").Output()
		return strings.Contains(string(out), serial) || c.issued(ca).Serial != serial
	})
}

// load commands the light, until the number of commands is asked for.
func (c *certifiedCell) load() (end func() int) {
	c.t.Helper()
	link := cloud.NewLink(cloud.LinkOptions{URL: "mqtt://127.0.0.1:" + c.here, ClientID: "load", Fleeting: true, Login: cloud.LoginAs("backend@1", c.password), Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = link.Run(ctx) })
	n := 0
	loops.Go(func() {
		for ; ctx.Err() == nil; n++ {
			data := fmt.Sprintf(`{"meeting_space_id":%q,"device_type":"light","action":"intensity","value":%d}`, demoRoom, n%100)
			raw, err := cloud.Envelope{ID: fmt.Sprint("load-", n), Source: "load", Type: cloud.TypeOf(cloud.LevelCommand), Time: time.Now().UTC(), Data: json.RawMessage(data)}.Encode()
			if err == nil {
				_ = link.Publish(ctx, cloud.Message{Topic: cloud.Topics{Gateway: "demo"}.Down(cloud.LevelCommand), Payload: raw, QoS: 1})
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	end = sync.OnceValue(func() int { stop(); loops.Wait(); return n })
	c.t.Cleanup(func() { end() })
	return end
}

// stored says how many rows of the gateway the fleet has, and which are missing or there twice.
func stored(t *testing.T, f *fleet.Fleet) (n int, wrong []uint64) {
	t.Helper()
	seen, last := map[uint64]int{}, uint64(0)
	for after, more := uint64(0), true; more; {
		all, err := f.Rows(after)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			seen[r.Sequence]++
			last, after = max(last, r.Sequence), r.Number
		}
		more = len(all) > 0
	}
	for at := uint64(1); at <= last; at++ {
		if seen[at] != 1 {
			wrong = append(wrong, at)
		}
	}
	return len(seen), wrong
}

// kill ends the gateway as a power cut does.
func (c *certifiedCell) kill() {
	c.t.Helper()
	if err := c.gateway.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = c.gateway.Wait()
}

// restart lets the broker read its list.
func (c *certifiedCell) restart() {
	c.t.Helper()
	_ = c.broker.Process.Kill()
	_ = c.broker.Wait()
	c.broker = c.mosquitto("certificates.conf", "8883", c.main, "1883", c.here)
}

// code is what the gateway shows once it is at the broker for those without a certificate.
func (c *certifiedCell) code() (code string) {
	c.t.Helper()
	awaitThat(c.t, "the gateway is connected and shows its code", func() bool {
		out, _ := c.command("claim", "--data", "data", "--output", "json").Output()
		var s struct {
			Code      string `json:"claim_code"`
			Connected bool   `json:"cloud_connected"`
		}
		_ = json.Unmarshal(out, &s)
		code = s.Code
		return s.Connected && code != ""
	})
	return code
}
