package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/broker"
)

// ownAuthority is a broker behind TLS whose certificate no system believes, and the file that does.
func ownAuthority(t *testing.T) (url, file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := broker.Open(broker.Options{AllowAnonymousLoopback: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.Close(), b.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() { _ = b.Serve(c) }()
		}
	}()
	return "mqtts://" + l.Addr().String(), file
}

// The commands of the cloud believe an authority of one's own, and say so if they do not.
func TestCloudTrustsAFile(t *testing.T) {
	url, file := ownAuthority(t)
	for _, c := range []struct{ file, want string }{{"", "--ca-file"}, {file + ".none", "--ca-file: open"}, {file, ""}} {
		cmd := newFleet()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(&bytes.Buffer{})
		args := []string{"--cloud", url}
		if c.file != "" {
			args = append(args, "--ca-file", c.file)
		}
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(t.Context()); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("--ca-file %q: %v: want %q", c.file, err, c.want)
		}
	}
	if fix := (cloud.Trouble{Cause: cloud.CauseUntrusted}).Fix(); !strings.Contains(fix, "--ca-file") {
		t.Errorf("the log says %s", fix)
	}
	for _, cmd := range newCloud().Commands() {
		if cmd.Flags().Lookup("cloud") != nil && cmd.Flags().Lookup("ca-file") == nil && cmd.Name() != "serve" || cmd.Name() == "serve" && cmd.Flags().Lookup("ca-file") == nil {
			t.Errorf("%s has no --ca-file", cmd.Name())
		}
	}
}
