package main

import (
	"errors"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/access"
	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/drivers"
)

func newCloudClaim() *cobra.Command {
	cmd := &cobra.Command{Use: "claim GATEWAY CODE", Short: "claim a gateway for an organization as the cloud does, over MQTT",
		Long: "Brings the claim code that a gateway shows to it by way of the cloud's broker, and\n" +
			"waits for the receipt. The gateway then belongs to the organization, and logs in\n" +
			"as --user with the password in --password-file, which the broker has to know.\n" +
			"Without them it keeps the login that it has. With --key it takes nothing that opens\n" +
			"a door without the signature of that key. With --ca it gets a certificate of that\n" +
			"authority, which the broker has to believe.",
		Example: "  roomgate cloud claim demo 7K3M-QX9D-0ABC-DEF1 --organization Acme\n" +
			"  roomgate cloud claim berlin-3 7K3M-QX9D-0ABC-DEF1 --organization Acme --user berlin-3 --password-file berlin-3.password",
		Args: cobra.ExactArgs(2), RunE: action(claimByCloud)}
	cloudFlags(cmd)
	f := cmd.Flags()
	f.String("organization", "", "`NAME` of the organization")
	f.String("id", "", "`UUID` of the organization, else one is made")
	f.Var(new(signingKey), "key", "`FILE` of the key that the cloud signs with: from then on what opens a door has to be signed")
	f.String("user", "", "`NAME` of the gateway at the broker, from now on")
	f.String("password-file", "", "`FILE` with its password in the first line")
	authorityFlag(cmd)
	f.Duration("wait", 15*time.Second, "how long to wait for the receipt")
	return cmd
}

func claimByCloud(cmd *cobra.Command, args []string) error {
	gateway := args[0]
	if !cloud.ValidGateway(gateway) {
		return fail(exitUsage, "%q is no gateway's id: want letters, digits, dots, dashes and underscores", gateway)
	}
	claim, err := claimAsked(cmd)
	if err != nil {
		return err
	}
	by, err := signer(cmd)
	if err != nil {
		return err
	}
	if by != nil {
		claim.SigningKeys = []backend.SigningKey{by.Public()}
	}
	ca, err := theAuthority(cmd)
	if err != nil {
		return err
	}
	if _, err := backend.SealClaim(gateway, args[1], claim); err != nil {
		return fail(exitUsage, "%w", err)
	}
	topics := cloud.Topics{Gateway: gateway}
	l, err := dialCloud(cmd, topics.Up(cloud.LevelReceipt), topics.Up(cloud.LevelEnrol))
	if err != nil {
		return err
	}
	defer l.close()
	if ca != nil { // last: a claim that goes nowhere leaves no secret that waits
		if claim.Enrolment, err = ca.Admit(gateway); err != nil {
			return err
		}
	}
	sealed, err := backend.SealClaim(gateway, args[1], claim)
	if err != nil {
		return err
	}
	if ca != nil {
		return l.certify(cmd, ca, gateway, claim, sealed)
	}
	got, err := l.ask(cmd, gateway, "claim", sealed)
	if err != nil {
		return err
	}
	return got.tell(cmd, "gateway %s belongs to %s", gateway, claim.Organization)
}

// claimAsked is what the flags want the gateway to get.
func claimAsked(cmd *cobra.Command) (c backend.Claim, err error) {
	c = backend.Claim{Organization: text(cmd, "organization"), OrganizationID: text(cmd, "id"), Username: text(cmd, "user")}
	file := text(cmd, "password-file")
	switch {
	case c.Organization == "":
		return c, fail(exitUsage, "--organization is missing: name the organization that the gateway belongs to")
	case (c.Username == "") != (file == ""):
		return c, fail(exitUsage, "--user and --password-file belong together: give both or none")
	case c.OrganizationID == "":
		c.OrganizationID = access.NewUUID()
	}
	if file == "" {
		return c, nil
	}
	f, err := openGiven(file)
	if err == nil {
		c.Password, err = drivers.Secret("").Reveal(file)
		err = errors.Join(err, f.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return c, fail(exitUsage, "there is no --password-file %s", file)
	}
	return c, err
}
