package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFilesBeside: a file that is named without a folder is beside the configuration that names it, wherever the
// program was started; one that a flag names is where it was typed.
func TestFilesBeside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cloud.yaml")
	text := "gateway: {id: g}\ncloud: {url: 'mqtts://a.example', username: g, password_file: pw, ca_file: sub/ca.pem}\n" +
		"http: {tls: {certificate: c.pem, key: /etc/k.pem}}\nsmtp: {username: u, password_file: '${CREDENTIALS_DIRECTORY}/secret_smtp'}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path) + "/"
	c, err := Load(path, lamps())
	if c == nil {
		t.Fatal(err)
	}
	got := []string{c.Cloud.PasswordFile, c.Cloud.CAFile, c.HTTP.TLS.Certificate, c.HTTP.TLS.Key, c.SMTP.PasswordFile}
	for i, want := range []string{dir + "pw", dir + "sub/ca.pem", dir + "c.pem", "/etc/k.pem", "${CREDENTIALS_DIRECTORY}/secret_smtp"} {
		if got[i] != want {
			t.Errorf("%s, want %s", got[i], want)
		}
	}
	c, err = Load(path, lamps(), Setting{Key: "cloud.password_file", Value: "typed", Origin: "--password-file"})
	if err != nil || c.Cloud.PasswordFile != "typed" {
		t.Errorf("%+v, %v", c, err)
	}
}
