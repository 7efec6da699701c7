package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"roomgate/agent/certificate"
	"roomgate/agent/config"
)

// soon is how long before its end a certificate is warned of.
const soon = 30 * 24 * time.Hour

// passwords examines the files that the configuration names as the places of
// passwords, and never what is in them.
func passwords(_ context.Context, x *examination) (found []Finding) {
	if x.Config == nil {
		return nil
	}
	for _, f := range []struct{ of, file string }{{"cloud", x.Config.Cloud.PasswordFile},
		{"smtp", x.Config.SMTP.PasswordFile}, {"push", x.Config.Push.TokenFile}} {
		if f.file != "" {
			found = append(found, x.password(f.of, f.file))
		}
	}
	for _, f := range x.Config.Files() {
		if strings.HasPrefix(f.Key, "spaces") {
			found = append(found, fileOfDevice(x, f)...)
		}
	}
	for _, u := range x.Config.Broker.Users {
		if u.PasswordFile != "" && x.Config.Broker.Listen != "" {
			found = append(found, x.password("broker user "+u.Name, u.PasswordFile))
		}
	}
	return found
}

// fileOfDevice says why the gateway cannot read a file of a device. Whether it is there its driver says.
func fileOfDevice(x *examination, file config.File) []Finding {
	if locked(file.Path) {
		return one(handedOver(x, file.Key, file.Path))
	}
	if info, err := os.Stat(file.Path); err == nil && !config.IsCredential(file.Path) {
		if f, closed := shut(x, file.Key, file.Path, info); closed {
			return one(f)
		}
	}
	return nil
}

func (x *examination) password(of, file string) Finding {
	name := "password of " + of
	info, err := os.Stat(file)
	switch {
	case locked(file):
		return handedOver(x, name, file)
	case absent(config.CredentialSource(file)):
		return fail(name, config.CredentialSource(file)+" is not there", "write the password into "+typedInto(x, config.CredentialSource(file))+", then sudo systemctl restart roomgate")
	case errors.Is(err, fs.ErrPermission) || config.IsCredential(file):
		return good(name, "%s, which only the service may see", file)
	case err != nil:
		return fail(name, err.Error(), "write the password into that file, or correct its path")
	}
	switch f, closed := shut(x, name, file, info); {
	case closed:
		return f
	case info.Mode().Perm()&0o007 != 0:
		return warn(name, file+" is open to everybody", "sudo chmod 640 "+file)
	}
	return good(name, "%s", file)
}

// credentials is the folder that the service cannot enter, whoever owns the files in it:
// systemd hands it copies.
const credentials = "/etc/roomgate/credentials/"

// locked says whether the service cannot read a file by the name that it has.
func locked(file string) bool { return strings.HasPrefix(file, credentials) }

// handedOver says how the service is given such a file.
func handedOver(x *examination, name, file string) Finding {
	return fail(name, file+" cannot be read by the service, which may not enter that folder",
		"write ${CREDENTIALS_DIRECTORY}/secret_"+strings.ReplaceAll(strings.TrimPrefix(file, credentials), "/", "_")+" in its place into "+opened(x, x.ConfigFile)+", then sudo systemctl restart roomgate")
}

// absent says whether a file is known not to be there.
func absent(file string) bool {
	if file == "" {
		return false
	}
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// certificates examines the files that the configuration names.
func certificates(_ context.Context, x *examination) (found []Finding) {
	if x.Config == nil {
		return nil
	}
	h, c := x.Config.HTTP.TLS, x.Config.Cloud
	if h.Certificate != "" {
		found = append(found, x.certificate("http.tls", h.Certificate, h.Key, true))
	}
	if b := x.Config.Broker.TLS; b.Certificate != "" {
		found = append(found, x.certificate("broker.tls", b.Certificate, b.Key, true))
	}
	if h.Authority || x.Config.Broker.TLS.Authority {
		found = append(found, x.authority()...)
	}
	if c.ClientCertificate != "" {
		found = append(found, x.certificate("cloud.client_certificate", c.ClientCertificate, c.ClientKey, false))
	}
	if c.CAFile != "" {
		found = append(found, x.certificate("cloud.ca_file", c.CAFile, "", false))
	}
	return found
}

// certificate examines one file, with its key if there is one. serves says
// that clients look for our host names in it.
func (x *examination) certificate(key, file, keyFile string, serves bool) Finding {
	name := "certificate " + key
	first, f := x.leaf(name, file)
	if first == nil {
		return f
	}
	if keyFile != "" {
		if f, bad := x.keyFile(name, file, keyFile); bad {
			return f
		}
	}
	seen := fmt.Sprintf("%s: %s, until %s", file, strings.Join(names(first), " "), first.NotAfter.UTC().Format(time.DateOnly))
	now := time.Now()
	switch {
	case now.After(first.NotAfter):
		return fail(name, seen+", which is over", "renew it")
	case now.Before(first.NotBefore):
		return fail(name, seen+", not valid before "+first.NotBefore.UTC().Format(time.RFC3339), "check the clock")
	case now.Add(soon).After(first.NotAfter):
		return warn(name, seen, "renew it")
	case serves && !ours(first):
		return warn(name, seen+": neither this machine's name nor an address of it", "make one with the name by which the displays reach the gateway")
	}
	return good(name, "%s", seen)
}

// leaf reads the first certificate of a file, or says why there is none.
func (x *examination) leaf(name, file string) (*x509.Certificate, Finding) {
	if locked(file) {
		return nil, handedOver(x, name, file)
	}
	if info, err := os.Stat(file); err == nil {
		if f, closed := shut(x, name, file, info); closed {
			return nil, f
		}
	}
	raw, err := certificate.ReadFile(file)
	if err != nil {
		return nil, fail(name, err.Error(), "put the file there, or correct its path")
	}
	for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fail(name, file+": "+err.Error(), "write the certificate again, as PEM")
		}
		return c, Finding{}
	}
	return nil, fail(name, file+" has no certificate in it", "write it as PEM, the server's own first")
}

// keyFile says what is wrong with a private key.
func (x *examination) keyFile(name, file, keyFile string) (f Finding, bad bool) {
	if config.IsCredential(keyFile) {
		return Finding{}, false // only the service sees it
	}
	info, err := os.Stat(keyFile)
	switch {
	case locked(keyFile):
		return handedOver(x, name, keyFile), true
	case err != nil:
		return fail(name, err.Error(), "put the key there, or correct its path"), true
	}
	switch f, closed := shut(x, name, keyFile, info); {
	case closed:
		return f, true
	case info.Mode().Perm()&0o007 != 0:
		return fail(name, keyFile+" is open to everybody", "sudo chmod 640 "+keyFile+", and make a new key"), true
	}
	if _, err := certificate.ReadPair(file, keyFile); err != nil {
		return fail(name, keyFile+": "+err.Error(), "use the key that the certificate was made with"), true
	}
	return Finding{}, false
}

// names are the hosts of a certificate, or whose it is.
func names(c *x509.Certificate) []string {
	all := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return []string{c.Subject.String()}
	}
	return all
}

// ours says whether a certificate has this machine's name or an address.
func ours(c *x509.Certificate) bool {
	host, _ := os.Hostname()
	hosts := []string{host, host + ".local"}
	found, _ := net.InterfaceAddrs()
	for _, a := range found {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && !ip.IsLoopback() {
			hosts = append(hosts, ip.String())
		}
	}
	return slices.ContainsFunc(hosts, func(h string) bool { return h != "" && c.VerifyHostname(h) == nil }) ||
		slices.ContainsFunc(c.DNSNames, func(n string) bool { return strings.HasPrefix(n, host+".") })
}
