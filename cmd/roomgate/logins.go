package main

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/cloudlink"
	"roomgate/agent/config"
	"roomgate/agent/doctor"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/drivers/host"
	"roomgate/drivers/o3"
)

const (
	logInTime = 4 * time.Second // for one log-in that is tried
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

// cloudKnows asks the cloud's broker whether it takes user and password. A gateway that runs
// with this id is not disturbed.
func cloudKnows(ctx context.Context) func(c config.Cloud, gateway string) cloud.Trouble {
	return func(c config.Cloud, gateway string) cloud.Trouble {
		ctx, cancel := context.WithTimeout(ctx, logInTime)
		defer cancel()
		secure, err := cloudlink.TLS(cloudlink.Settings{CAFile: c.CAFile, ClientCertificate: c.ClientCertificate, ClientKey: c.ClientKey, TLS12: c.TLSMin == config.TLS12})
		if err != nil {
			return cloud.Trouble{Cause: cloud.CauseMisconfigured, Error: err.Error()}
		}
		return cloud.Try(ctx, cloud.LinkOptions{URL: string(c.URL), ClientID: "roomgate-" + strings.ReplaceAll(gateway, ".", "--") + "-setup", TLS: secure, Log: slog.New(slog.DiscardHandler),
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
	var tried []func() []doctor.LogIn
	if _, err := revealed(c.Cloud.Password, c.Cloud.PasswordFile); c.Cloud.URL != "" && c.Cloud.Username != "" && err == nil {
		tried = append(tried, func() []doctor.LogIn { return cloudLogIn(ctx, c) })
	}
	for _, s := range c.Spaces {
		for _, d := range s.Devices {
			hub, ok := d.Options.(*o3.Options)
			if !ok || !d.Enabled {
				continue
			}
			if password, err := revealed(hub.Password, hub.PasswordFile); err == nil {
				tried = append(tried, func() []doctor.LogIn {
					answers, refused := hubRefuses(ctx)(hub.Address, hub.Username, password)
					return []doctor.LogIn{{Device: d.ID, At: hub.Address, Answers: answers, Refused: refused}}
				})
			}
		}
	}
	found := make([][]doctor.LogIn, len(tried))
	var all errgroup.Group
	all.SetLimit(atOnce)
	for i, try := range tried {
		all.Go(func() error {
			found[i] = try()
			return nil
		})
	}
	_ = all.Wait() // none of them fails
	return slices.Concat(found...)
}

// cloudLogIn tries the cloud's. What keeps it from being tried is found on the way to the broker.
func cloudLogIn(ctx context.Context, c *config.Config) []doctor.LogIn {
	switch t := cloudKnows(ctx)(c.Cloud, c.Gateway.ID); t.Cause {
	case "", cloud.CauseLogin:
		return []doctor.LogIn{{At: string(c.Cloud.URL), Username: c.Cloud.Username, Answers: true, Refused: t.Cause != ""}}
	}
	return nil
}
