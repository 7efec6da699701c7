package main

import (
	"crypto/tls"

	"github.com/spf13/cobra"

	"roomgate/agent/certificate"
	"roomgate/cloud/backend"
)

// tlsFlags add whom a command of the cloud trusts as the broker, and the certificate that it shows there.
func tlsFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("ca-file", "", "`FILE` of the authority that signed the broker's certificate; else those of the system are believed")
	f.String("cert-file", "", "`FILE` of the certificate that is shown to the broker, as roomgate cloud ca backend makes it")
	f.String("key-file", "", "`FILE` of its key")
}

// cloudTLS is how a broker is talked to by those flags; nil: as the system has it.
func cloudTLS(cmd *cobra.Command) (*tls.Config, error) {
	t, err := backend.Trust(text(cmd, "ca-file"))
	if err != nil {
		return nil, fail(exitUsage, "--ca-file: %w", err)
	}
	file, key := text(cmd, "cert-file"), text(cmd, "key-file")
	if (file == "") != (key == "") {
		return nil, fail(exitUsage, "--cert-file and --key-file belong together: give both or none")
	}
	if file == "" {
		return t, nil
	}
	own, err := certificate.Read("--cert-file", file, key)
	if err != nil {
		return nil, fail(exitUsage, "%w", err)
	}
	if t == nil {
		t = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	t.GetClientCertificate = own.Show
	return t, nil
}
