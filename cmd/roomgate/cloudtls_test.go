package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"roomgate/cloud/authority"
)

// A command shows a broker the certificate of its flags, which the authority's list believes.
func TestCommandsShowACertificate(t *testing.T) {
	dir := t.TempDir()
	ca, err := authority.Init(dir, "gateways", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := ca.Backend("backend@1")
	if err != nil {
		t.Fatal(err)
	}
	server, err := tls.X509KeyPair(certificate, key) // any will do: who it is is not looked at here
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "backend")
	for name, raw := range map[string][]byte{at + ".crt": certificate, at + ".key": key} {
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.ReadFile(filepath.Join(dir, authority.RootFile))
	if err != nil {
		t.Fatal(err)
	}
	believed := x509.NewCertPool()
	believed.AppendCertsFromPEM(root)
	for _, name := range []string{"fleet", "serve"} {
		cmd := &cobra.Command{}
		if name == "serve" {
			cmd = newServe()
		} else {
			cloudFlags(cmd)
		}
		if err := cmd.ParseFlags([]string{"--cert-file", at + ".crt", "--key-file", at + ".key"}); err != nil {
			t.Fatal(err)
		}
		secure, err := cloudTLS(cmd)
		if err != nil {
			t.Fatal(err)
		}
		secure.InsecureSkipVerify = true
		here, there := net.Pipe()
		client := tls.Client(here, secure)
		shaken := make(chan error, 1)
		go func() { shaken <- client.Handshake() }()
		broker := tls.Server(there, &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: believed, SessionTicketsDisabled: true, MinVersion: tls.VersionTLS12})
		if err := broker.Handshake(); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := broker.ConnectionState().PeerCertificates[0].Subject.String(); got != "CN=backend@1" {
			t.Errorf("%s shows the certificate of %s", name, got)
		}
		if err := <-shaken; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, _ = here.Close(), there.Close()
	}
}
