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
	case b.Simulated && b.DoorOrders == health.DoorsUnsigned:
		return one(good(name, "the cloud opens doors without a signature (door orders unsigned, as in a demo); doors.unsigned: refuse in the configuration ends that"))
	case b.DoorOrders == health.DoorsUnsigned && len(b.SigningKeys) > 0:
		return one(warn(name, "the cloud opens doors without a signature, though this gateway holds a key of it (door orders unsigned)",
			"remove doors.unsigned from the configuration, or set it to refuse"))
	case b.DoorOrders == health.DoorsUnsigned:
		return one(warn(name, "the cloud opens doors without a signature, and so does anybody who speaks for it at its broker (door orders unsigned)",
			"claim the gateway with a signing key: roomgate cloud claim --key; or set doors.unsigned to refuse: then the cloud opens no door"))
	case len(b.SigningKeys) == 0:
		return one(warn(name, "the cloud can open no door: this gateway wants a signature and holds no key to verify it with",
			"claim the gateway with a signing key: roomgate cloud claim --key; if it is claimed, release it first: sudo roomgate claim --release"))
	}
	return one(good(name, "the cloud opens doors by signed commands, which this gateway verifies with %s (door orders signed): %s", count(len(b.SigningKeys), "key"), strings.Join(b.SigningKeys, " ")))
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
			"scan the code on the attached screen, or what sudo roomgate claim shows, and accept the gateway at the cloud; one that needs no claim has its user there as cloud.username"))
	}
	return nil
}
