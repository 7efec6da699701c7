package camera_test

import (
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/camera"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
)

const address = "10.0.0.8:80"

func part(auth string) *peers.Camera {
	return &peers.Camera{Address: address, Auth: auth, Username: "viewer", Password: "s3same"}
}

func options() *camera.Options {
	o := camera.Kind().Options().(*camera.Options)
	o.URL, o.Username, o.Password = "http://10.0.0.8/snapshot.jpg", "viewer", "s3same"
	return o
}

func TestConformance(t *testing.T) {
	for _, auth := range []string{"none", "basic", "digest", "both"} {
		t.Run(auth, func(t *testing.T) {
			drivertest.Run(t, drivertest.Case{
				Kind:    camera.Kind(),
				Options: func() drivers.Options { return options() },
				Parts:   func() []sim.Part { return []sim.Part{part(auth)} },
				Bad:     bad(),
			})
		})
	}
}

func bad() []drivertest.Bad {
	field := func(name string, change func(*camera.Options)) drivertest.Bad {
		return drivertest.Bad{Field: name, Change: func(o drivers.Options) { change(o.(*camera.Options)) }}
	}
	return []drivertest.Bad{
		field("url", func(o *camera.Options) { o.URL = "" }),
		field("url", func(o *camera.Options) { o.URL = "rtsp://10.0.0.8/live" }),
		field("url", func(o *camera.Options) { o.URL = "http://viewer:s3same@10.0.0.8/" }),
		field("url", func(o *camera.Options) { o.CAFile = "/etc/camera.pem" }),
		field("auth", func(o *camera.Options) { o.Auth = "Digest" }),
		field("auth", func(o *camera.Options) { o.Auth = "none" }),
		field("username", func(o *camera.Options) { o.Auth, o.Username = "digest", "" }),
		field("username", func(o *camera.Options) { o.Username = "a:b" }),
		field("password_file", func(o *camera.Options) { o.PasswordFile = "/run/secret" }),
		field("probe", func(o *camera.Options) { o.Probe = "ping" }),
		field("max_bytes", func(o *camera.Options) { o.MaxBytes = 0 }),
		field("timeout", func(o *camera.Options) { o.Timeout = time.Hour }),
		field("start", func(o *camera.Options) { o.Start = "" }),
		field("fingerprint", func(o *camera.Options) { o.URL, o.Fingerprint = "https://10.0.0.8/", "abc" }),
	}
}
