package main

import (
	"crypto/tls"

	"github.com/spf13/cobra"

	"roomgate/agent/certificate"
)

// ownCertificateFlags add the certificate that is shown to a broker.
func ownCertificateFlags(cmd *cobra.Command) {
	cmd.Flags().String("cert-file", "", "`FILE` of the certificate that is shown to the broker, as roomgate cloud ca backend makes it")
	cmd.Flags().String("key-file", "", "`FILE` of its key")
}

// cloudTLS is how a broker is talked to with a certificate; nil: without one, as the system has it.
func cloudTLS(cmd *cobra.Command) (*tls.Config, error) {
	file, key := text(cmd, "cert-file"), text(cmd, "key-file")
	if (file == "") != (key == "") {
		return nil, fail(exitUsage, "--cert-file and --key-file belong together: give both or none")
	}
	if file == "" {
		return nil, nil
	}
	own, err := certificate.Read("--cert-file", file, key)
	if err != nil {
		return nil, fail(exitUsage, "%w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetClientCertificate: own.Show}, nil
}
