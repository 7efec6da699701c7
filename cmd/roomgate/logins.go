package main

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/cloudlink"
	"roomgate/agent/config"
	"roomgate/agent/doctor"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/drivers/camera"
	"roomgate/drivers/host"
	"roomgate/drivers/o3"
)

const (
	logInTime = 2 * time.Second // for one log-in that is tried among others
	askTime   = 4 * time.Second // for one that somebody waits for, and for that at the cloud
	atOnce    = 32              // log-ins that are tried at the same time
)

// hubRefuses asks a hub in the networks of this machine whether it takes a password.
func hubRefuses(ctx context.Context) func(address, user, password string) (answers, refuses bool) {
	return func(address, user, password string) (bool, bool) {
		board := host.New()
		defer board.Close()
		return o3.Refuses(ctx, board, address, user, password)
	}
}

// cameraRefuses asks a network camera whether it takes user and password.
func cameraRefuses(ctx context.Context) func(o camera.Options) (answers, refuses bool) {
	return func(o camera.Options) (bool, bool) {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		board := host.New()
		defer board.Close()
		return camera.Refuses(ctx, board, o)
	}
}

// cloudKnows asks the cloud's broker whether it takes user and password. A gateway that runs
// with this id is not disturbed.
func cloudKnows(ctx context.Context) func(c config.Cloud, gateway string) cloud.Trouble {
	return func(c config.Cloud, gateway string) cloud.Trouble {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		secure, err := cloudlink.TLS(cloudlink.Settings{CAFile: c.CAFile, ClientCertificate: c.ClientCertificate, ClientKey: c.ClientKey, TLS12: c.TLSMin == config.TLS12})
		if err != nil {
			return cloud.Trouble{Cause: cloud.CauseMisconfigured, Error: err.Error()}
		}
		return cloud.Try(ctx, cloud.LinkOptions{URL: string(c.URL), ClientID: cloud.TrialID(gateway), TLS: secure, Log: slog.New(slog.DiscardHandler),
			Login: cloud.LoginAs(c.Username, func() (string, error) { return revealed(c.Password, c.PasswordFile) })})
	}
}

// revealed is a secret, also one that systemd alone hands to the service: who may read it reads
// it where systemd does.
func revealed(secret drivers.Secret, file string) (string, error) {
	return secret.Reveal(cmp.Or(config.CredentialSource(file), file))
}

// logIns tries the users and passwords of a configuration, at the same time. Those that this user
// may not read are left out.
func logIns(ctx context.Context, c *config.Config) []doctor.LogIn {
	var tried []trial
	if _, err := revealed(c.Cloud.Password, c.Cloud.PasswordFile); c.Cloud.URL != "" && c.Cloud.Username != "" && err == nil {
		tried = append(tried, trial{doctor.LogIn{At: string(c.Cloud.URL), Username: c.Cloud.Username}, cloudLogIn(c), askTime})
	}
	for _, s := range c.Spaces {
		for _, d := range s.Devices {
			if t, ok := deviceTrial(d); ok && d.Enabled {
				t.Device = d.ID
				tried = append(tried, t)
			}
		}
	}
	return tryLogIns(ctx, tried)
}

// trial is a log-in that is tried. known is false if what keeps it from being tried is found
// elsewhere.
type trial struct {
	doctor.LogIn
	try  func(ctx context.Context) (answers, refuses, known bool)
	most time.Duration // for it; 0: logInTime
}

// deviceTrial is that of a device, unless it has no password or one that this user may not read.
func deviceTrial(d config.Device) (t trial, ok bool) {
	switch o := d.Options.(type) {
	case *o3.Options:
		password, err := revealed(o.Password, o.PasswordFile)
		t.At = o.Address
		t.try = func(ctx context.Context) (bool, bool, bool) {
			answers, refuses := hubRefuses(ctx)(o.Address, o.Username, password)
			return answers, refuses, true
		}
		return t, err == nil
	case *camera.Options:
		password, err := revealed(o.Password, o.PasswordFile)
		t.At = cameraAt(o.URL)
		with := *o
		with.Password, with.PasswordFile = drivers.Secret(password), ""
		t.try = func(ctx context.Context) (bool, bool, bool) {
			answers, refuses := cameraRefuses(ctx)(with)
			return answers, refuses, true
		}
		return t, err == nil && o.Username != ""
	}
	return t, false
}

// cameraAt is the host of a camera: a path may have a password in it.
func cameraAt(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// tryLogIns tries many at the same time, each as long as one may take. What could not end in time is
// not begun, and said.
func tryLogIns(ctx context.Context, tried []trial) []doctor.LogIn {
	found := make([]*doctor.LogIn, len(tried))
	var all errgroup.Group
	all.SetLimit(atOnce)
	for i, t := range tried {
		all.Go(func() error {
			said, most := t.LogIn, cmp.Or(t.most, logInTime)
			if end, bounded := ctx.Deadline(); bounded && time.Until(end) < most || ctx.Err() != nil {
				said.Untried = true
				found[i] = &said
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, most)
			defer cancel()
			known := false
			if said.Answers, said.Refused, known = t.try(ctx); known {
				found[i] = &said
			}
			return nil
		})
	}
	_ = all.Wait() // none of them fails
	var some []doctor.LogIn
	for _, l := range found {
		if l != nil {
			some = append(some, *l)
		}
	}
	return some
}

// cloudLogIn tries the cloud's. What keeps it from being tried is found on the way to the broker.
func cloudLogIn(c *config.Config) func(context.Context) (answers, refuses, known bool) {
	return func(ctx context.Context) (bool, bool, bool) {
		switch t := cloudKnows(ctx)(c.Cloud, c.Gateway.ID); t.Cause {
		case "", cloud.CauseLogin:
			return true, t.Cause != "", true
		}
		return false, false, false
	}
}
