package config

import "testing"

func TestCredentials(t *testing.T) {
	file := []byte(`gateway: {id: g}
http: {tls: {certificate: "/etc/a.pem", key: "${CREDENTIALS_DIRECTORY}/secret_tls"}}
cloud: {url: "mqtts://c", username: u, password_file: "${CREDENTIALS_DIRECTORY}/secret_cloud"}
smtp: {url: "smtps://m", from: "a@example.com", username: u, password: "${CREDENTIALS_DIRECTORY}/x"}`)
	for dir, want := range map[string]string{"": "${CREDENTIALS_DIRECTORY}/", "/run/credentials/roomgate.service": "/run/credentials/roomgate.service/"} {
		t.Setenv("CREDENTIALS_DIRECTORY", dir)
		c, err := Parse("g.yaml", file, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Cloud.PasswordFile; got != want+"secret_cloud" || !IsCredential(got) {
			t.Errorf("in %q the password of the cloud is in %q", dir, got)
		}
		if got := c.HTTP.TLS.Key; got != want+"secret_tls" || IsCredential(c.HTTP.TLS.Certificate) {
			t.Errorf("in %q the key is in %q", dir, got)
		}
		if got := string(c.SMTP.Password); got != "${CREDENTIALS_DIRECTORY}/x" {
			t.Errorf("in %q a password became %q", dir, got)
		}
		if got := CredentialSource(c.Cloud.PasswordFile); got != "/etc/roomgate/credentials/cloud" || CredentialSource("/etc/secret_x") != "" {
			t.Errorf("in %q the password of the cloud comes from %q", dir, got)
		}
	}
}
