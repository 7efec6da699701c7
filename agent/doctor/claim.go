package doctor

import (
	"context"
	"slices"
	"strings"

	"roomgate/agent/claim"
	"roomgate/agent/health"
	"roomgate/drivers"
)

// Claim is how the running gateway stands with its cloud, without the code, for
// what is found is handed on.
type Claim struct {
	State        string `json:"state"` // as of claim.Status
	Organization string `json:"organization"`
}

// doorOrders says whether the cloud may open doors without a signature, where it
// has a door to open.
func doorOrders(_ context.Context, x *examination) []Finding {
	const name = "door orders"
	b := x.Building
	if b == nil || b.DoorOrders == "" || !slices.ContainsFunc(b.Devices, func(d Device) bool { return d.Type == drivers.TypeLock }) {
		return nil // an older gateway does not tell
	}
	if x.Config != nil && x.Config.Cloud.URL == "" && !b.Simulated && (b.Claim.State == claim.Off || b.Claim.State == "") {
		return nil // there is no cloud
	}
	switch {
	case b.Simulated:
		return one(good(name, "door orders unsigned, as in every demo"))
	case b.DoorOrders == health.DoorsUnsigned && len(b.SigningKeys) > 0:
		return one(warn(name, "door orders unsigned: the cloud may open doors without a signature, though this gateway holds a key of it",
			"take doors.unsigned out of the configuration, or set it to refuse"))
	case b.DoorOrders == health.DoorsUnsigned:
		return one(warn(name, "door orders unsigned: whoever speaks for the cloud at its broker may open doors",
			"claim the gateway with a signing key, as roomgate cloud claim --key; or set doors.unsigned to refuse, and the cloud opens none"))
	case len(b.SigningKeys) == 0:
		return one(warn(name, "the cloud can open no door: its commands have to be signed, and this gateway holds no key",
			"claim the gateway with a signing key; if it has been claimed, release it first with roomgate claim --release"))
	}
	return one(good(name, "signed: the cloud opens doors by commands that are signed by %s: %s", count(len(b.SigningKeys), "key"), strings.Join(b.SigningKeys, " ")))
}

// claimed says who owns the gateway, if it is one that is claimed. Whether
// its cloud is reached is another finding.
func claimed(_ context.Context, x *examination) []Finding {
	const name = "claim"
	if x.Building == nil {
		return nil
	}
	switch c := x.Building.Claim; c.State {
	case claim.Done:
		return one(good(name, "this gateway belongs to %s", c.Organization))
	case claim.Waiting:
		return one(warn(name, "this gateway belongs to nobody yet",
			"scan the code on the attached screen, or what roomgate claim shows, and accept the gateway at the cloud; one that needs no claim has its user there as cloud.username"))
	}
	return nil
}
