//go:build integration && faults

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/cloud"
)

// brokersOf starts a Mosquitto with three doors: one for everybody, one with TLS, and one that
// wants a certificate.
func brokersOf(t *testing.T, certificate, key string) (open, secure, mutual string) {
	t.Helper()
	m := newMosquittoAt(t)
	at := []string{m.address, freeAddress(t), freeAddress(t)}
	tls := fmt.Sprintf("certfile %s\nkeyfile %s\n", certificate, key)
	text := "per_listener_settings true\nuser root\n"
	for i, more := range []string{"", tls, tls + "cafile " + certificate + "\nrequire_certificate true\n"} {
		_, port, _ := net.SplitHostPort(at[i])
		text += fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous true\n%s", port, more)
	}
	if err := os.WriteFile(m.conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.start()
	return at[0], at[1], at[2]
}

// closing is a way to a broker that closes a connection as soon as the client has said a packet of this kind.
func closing(t *testing.T, broker string, kind byte) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go closeAfter(in, broker, kind)
		}
	}()
	return l.Addr().String()
}

func closeAfter(in net.Conn, broker string, kind byte) {
	defer in.Close()
	out, err := net.Dial("tcp", broker)
	if err != nil {
		return
	}
	defer out.Close()
	go func() {
		text := make([]byte, 64<<10)
		for {
			n, err := out.Read(text)
			if err != nil {
				return
			}
			if _, err := in.Write(text[:n]); err != nil {
				return
			}
		}
	}()
	text := make([]byte, 64<<10)
	for {
		n, err := in.Read(text)
		if err != nil || n > 0 && text[0]>>4 == kind {
			return
		}
		if _, err := out.Write(text[:n]); err != nil {
			return
		}
	}
}

// lineTo starts a gateway with this line to its cloud.
func lineTo(t *testing.T, id, url, authority string) *badDisk {
	t.Helper()
	text := fmt.Sprintf("gateway: {id: %s}\ncloud: {url: %q, username: g, password: p, ca_file: %q}\n", id, url, authority)
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return openBadDisk(t, t.TempDir(), special{config: file})
}

// TestTroubleOfAGateway: the gateway names what is wrong with its line, its doctor does so too, and neither speaks of a second gateway
// with this id, unless there is one.
func TestTroubleOfAGateway(t *testing.T) {
	certificate, key, _ := selfSigned(t)
	other, _, _ := selfSigned(t)
	open, secure, mutual := brokersOf(t, certificate, key)
	const publish, subscribe = 3, 8
	for name, c := range map[string]struct {
		url, authority string
		cause          cloud.Cause
		times          int // that it was met
	}{
		"closes upon a word": {"mqtt://" + closing(t, open, publish), "", cloud.CauseMayNotWrite, 5},
		"closes at once":     {"mqtt://" + closing(t, open, subscribe), "", cloud.CauseMayNotRead, 5},
		"other authority":    {"mqtts://" + secure, other, cloud.CauseUntrusted, 1},
		"no certificate":     {"mqtts://" + mutual, certificate, cloud.CauseCertificate, 1},
		"plain to TLS":       {"mqtt://" + secure, "", cloud.CauseTLSWanted, 1},
		"TLS to plain":       {"mqtts://" + open, certificate, cloud.CauseTLSMissing, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := lineTo(t, strings.ReplaceAll(name, " ", "-"), c.url, c.authority)
			var l line
			for end := time.Now().Add(time.Minute); l.Trouble == nil || l.Trouble.Cause != string(c.cause) || l.Trouble.Times < c.times; l = d.line() {
				if time.Now().After(end) {
					t.Fatalf("it says %+v, want %s", l.Trouble, c.cause)
				}
				time.Sleep(20 * time.Millisecond)
			}
			d.diagnosed(l.Trouble.Seen)
			if l.Contested != 0 || len(d.events("gatewayContested")) > 0 {
				t.Errorf("it speaks of another gateway: %+v", l)
			}
			t.Attr("injected", "1")
			t.Attr("survived", "1")
		})
	}
	t.Run("a second gateway", func(t *testing.T) {
		d := lineTo(t, "twice", "mqtt://"+open, "")
		second := exec.Command(d.binary, "run", "--config", d.config, "--data", filepath.Join(t.TempDir(), "data"), "--listen", freeAddress(t), "--broker", freeAddress(t))
		second.Env = append(d.env, "TMPDIR="+t.TempDir())
		startProcess(t, second)
		for end := time.Now().Add(time.Minute); d.line().Contested == 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it says %+v", d.line().Trouble)
			}
		}
		awaitThat(t, "an event tells of it", func() bool { return len(d.events("gatewayContested")) > 0 })
		t.Attr("injected", "1")
		t.Attr("survived", "1")
	})
}
