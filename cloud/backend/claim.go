package backend

import (
	"context"
	"encoding/json"
	"errors"

	"roomgate/cloud"
)

// Claim is what a gateway gets from its cloud when somebody brings the claim
// code that it shows.
type Claim struct {
	OrganizationID string `json:"organization_id"` // a UUID
	Organization   string `json:"organization"`    // its name
	// Username and Password are the gateway's own at the broker, from now on.
	// Without them it keeps those that it has.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// SigningKeys are at most four that the gateway believes from now on. With one
	// it takes nothing that opens a door without a signature.
	SigningKeys []SigningKey `json:"signing_keys,omitempty"`
	// Enrolment is the secret by which the gateway asks for a certificate, from cloud.NewEnrolment;
	// package authority answers. Nil: it gets none.
	Enrolment []byte `json:"enrolment,omitempty"`
}

// SealedClaim is the data of down/claim: a Claim that only the gateway that
// shows the code can read, and that only who has the code can have made.
type SealedClaim struct {
	Sealed []byte `json:"sealed"` // by cloud.Seal, for this topic
}

// Claim makes a gateway the organization's whose person brought the code, and
// returns the message's id, which the receipt names. It waits as Push does.
func (b *Backend) Claim(ctx context.Context, gateway, code string, c Claim) (id string, err error) {
	sealed, err := SealClaim(gateway, code, c)
	if err != nil {
		return "", err
	}
	return b.Push(ctx, gateway, cloud.LevelClaim, sealed)
}

// SealClaim makes the data of down/claim.
func SealClaim(gateway, code string, c Claim) (SealedClaim, error) {
	if _, ok := cloud.ReadCode(code); !ok {
		return SealedClaim{}, errors.New("the claim code cannot be right: want the 16 letters and digits that the gateway shows")
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return SealedClaim{}, err
	}
	sealed, err := cloud.Seal(code, cloud.Topics{Gateway: gateway}.Down(cloud.LevelClaim), raw)
	return SealedClaim{sealed}, err
}
