package camera

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"time"

	"roomgate/drivers"
)

const (
	authAuto   = "auto"
	authNone   = "none"
	authBasic  = "basic"
	authDigest = "digest"

	probeHead = "head"
	probeGet  = "get"
	probeTCP  = "tcp"
)

// Options are one camera, as the configuration spells it; see the package.
type Options struct {
	URL          string         `yaml:"url"`
	Username     string         `yaml:"username"`
	Password     drivers.Secret `yaml:"password"`
	PasswordFile string         `yaml:"password_file"`
	Auth         string         `yaml:"auth"`
	Probe        string         `yaml:"probe"`
	MaxBytes     int64          `yaml:"max_bytes"`
	Timeout      time.Duration  `yaml:"timeout"`
	Start        string         `yaml:"start"`
	CAFile       string         `yaml:"ca_file"`
	Fingerprint  string         `yaml:"fingerprint"`
}

// Kind is the driver as the configuration names it.
func Kind() drivers.Kind {
	return drivers.Kind{
		Name:    "camera-http",
		Type:    drivers.TypeCamera,
		Summary: "a network camera with pictures over http",
		Options: func() drivers.Options {
			return &Options{
				Auth: authAuto, Probe: probeHead, MaxBytes: 4 << 20, Timeout: 5 * time.Second, Start: drivers.On,
			}
		},
	}
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error {
	if err := o.checkURL(); err != nil {
		return err
	}
	if err := o.checkLogin(); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]string{probeHead, probeGet, probeTCP}, o.Probe):
		return drivers.Unknown("probe", o.Probe, "head, get or tcp")
	case o.MaxBytes < 1<<10 || o.MaxBytes > 64<<20:
		return refuse("max_bytes", "is out of range: want 1024 to 67108864 bytes")
	case o.Timeout < 100*time.Millisecond || o.Timeout > time.Minute:
		return refuse("timeout", "is out of range: want 100ms to 1m")
	case o.Start != drivers.On && o.Start != drivers.Off:
		return drivers.Unknown("start", o.Start, "on or off")
	}
	if _, err := o.pin(); err != nil {
		return err
	}
	return nil
}

// checkURL never repeats the URL: some cameras take the password in it.
func (o *Options) checkURL() error {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return refuse("url", "is not an address: want http://host/path or https://host/path")
	case u.User != nil:
		return refuse("url", "names a user: use username and password_file instead")
	case u.Scheme == "http" && (o.CAFile != "" || o.Fingerprint != ""):
		return refuse("url", "is http: ca_file and fingerprint need https")
	}
	return nil
}

func (o *Options) checkLogin() error {
	switch {
	case !slices.Contains([]string{authAuto, authNone, authBasic, authDigest}, o.Auth):
		return drivers.Unknown("auth", o.Auth, "auto, none, basic or digest")
	case o.Auth == authNone && o.Username != "":
		return refuse("auth", "is none beside a username: leave one of them out")
	case o.Username == "" && (o.Auth == authBasic || o.Auth == authDigest):
		return refuse("username", "is missing: "+o.Auth+" needs one")
	case strings.Contains(o.Username, ":"):
		return refuse("username", "has a colon, which basic authentication cannot carry")
	case o.Password != "" && o.PasswordFile != "":
		return refuse("password_file", "is given beside password: keep one of them")
	}
	return nil
}

// pin is the fingerprint as bytes, nil for none. Colons may part the bytes.
func (o *Options) pin() ([]byte, error) {
	if o.Fingerprint == "" {
		return nil, nil
	}
	b, err := hex.DecodeString(strings.ReplaceAll(o.Fingerprint, ":", ""))
	if err != nil || len(b) != sha256.Size {
		return nil, refuse("fingerprint", "is not a SHA-256: want 64 hex digits")
	}
	return b, nil
}

func refuse(field, problem string) error {
	return &drivers.FieldError{Field: field, Problem: problem}
}

// Open returns the camera without calling it: one that is away is offline, not
// an error.
func (o *Options) Open(_ context.Context, b drivers.Buses) (drivers.Driver, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	w, err := newWeb(*o, b)
	if err != nil {
		return nil, err
	}
	return New(Kind(), w, o.Timeout, o.Start == drivers.On), nil
}
