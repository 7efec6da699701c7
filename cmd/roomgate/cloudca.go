package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/atomicfile"
	"roomgate/cloud"
	"roomgate/cloud/authority"
	"roomgate/cloud/backend"
	"roomgate/cloud/backend/fleet"

	"roomgate/cmd/roomgate/show"
)

const cloudCAHelp = `Makes an authority in the folder DIR, which certifies to a broker which gateway
somebody is. The broker gets ca.crt and crl.pem of it, and nothing else: ca.pem has
the key. "roomgate cloud claim --ca DIR" and "roomgate cloud serve --fleet ... --ca DIR"
give a gateway its first certificate; it is good for 90 days, and the gateway asks
"cloud serve" for the next one in time.`

func newCloudCA() *cobra.Command {
	initial := &cobra.Command{Use: "init DIR", Short: "make an authority for the certificates of gateways", Long: cloudCAHelp,
		Example: "  roomgate cloud ca init ca", Args: cobra.ExactArgs(1), RunE: action(initCA)}
	initial.Flags().String("name", "Roomgate gateways", "`NAME` of the authority, as the broker's log shows it")
	list := &cobra.Command{Use: "list DIR", Short: "list the gateways that get certificates, and until when these are good",
		Args: cobra.ExactArgs(1), RunE: action(listCA)}
	outputFlag(list)
	revoke := &cobra.Command{Use: "revoke DIR GATEWAY", Short: "take the certificates of a gateway back",
		Long: "Writes the certificates of a gateway into the list crl.pem, and gives it no other one\n" +
			"until it is claimed again. Its broker has to get the list. NATS reads none: take the\n" +
			"user of the gateway out there, with roomgate cloud cell DIR --expel GATEWAY.",
		Example: "  roomgate cloud ca revoke ca berlin-3",
		Args:    cobra.ExactArgs(2), RunE: action(revokeCA)}
	crl := &cobra.Command{Use: "crl DIR", Short: "write the list crl.pem of revoked certificates again",
		Long: "Writes crl.pem again, by revoked.json or, if that is lost, by the files of the gateways:\nafter one of them was lost or damaged, or was written while the clock was wrong.",
		Args: cobra.ExactArgs(1), RunE: action(writeCRL)}
	own := &cobra.Command{Use: "backend DIR NAME", Short: "make a key and a certificate for a backend",
		Long:    "Makes a certificate, good for a year, by which a broker knows a backend, and its key, in\nDIR/backends. NAME is its user at the broker. roomgate cloud ca revoke DIR NAME takes it back.",
		Example: "  roomgate cloud ca backend ca backend@1\n  roomgate cloud fleet --cloud mqtts://broker.example.org --cert-file ca/backends/backend@1.crt --key-file ca/backends/backend@1.key",
		Args:    cobra.ExactArgs(2), RunE: action(certifyBackend)}
	return group("ca", "the authority for the certificates of gateways", initial, list, revoke, crl, own)
}

// authorityFlag adds the flag for the authority that gives certificates.
func authorityFlag(cmd *cobra.Command) {
	cmd.Flags().String("ca", "", "`DIR` of the authority that certifies gateways, as roomgate cloud ca init made it")
}

// theAuthority is that of --ca; nil: there is none.
func theAuthority(cmd *cobra.Command) (*authority.Authority, error) {
	dir := text(cmd, "ca")
	if dir == "" {
		return nil, nil
	}
	return openCA(dir)
}

func openCA(dir string) (*authority.Authority, error) {
	ca, err := authority.Open(dir)
	if errors.Is(err, authority.ErrNone) {
		return nil, fail(exitUsage, "%w", err)
	}
	return ca, err
}

func initCA(cmd *cobra.Command, args []string) error {
	ca, err := authority.Init(args[0], short64(text(cmd, "name")), time.Now())
	if errors.Is(err, authority.ErrThere) {
		return fail(exitRefused, "%w", err)
	}
	if err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(args[0], name) }
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "authority %s, until %s\nfor the broker: %s, %s\nkeep for yourself: %s\n", text(cmd, "name"), ca.Ends().Format(time.DateOnly),
		at(authority.RootFile), at(authority.ListFile), at(authority.KeyFile))
	return err
}

func listCA(cmd *cobra.Command, args []string) error {
	ca, err := openCA(args[0])
	if err != nil {
		return err
	}
	all, damaged := ca.Gateways()
	err = outputSome(cmd, all, len(all), "no gateway was claimed with this authority yet: roomgate cloud claim --ca", "GATEWAY STATE UNTIL SERIAL", func(row func(...string)) {
		for _, g := range all {
			state, until := "certified", "-"
			switch {
			case !g.Revoked.IsZero():
				state = "revoked"
			case g.Serial == "":
				state = "not asked"
			}
			if !g.Until.IsZero() {
				until = g.Until.Format(time.RFC3339)
			}
			row(g.ID, state, until, show.Dash(g.Serial))
		}
	})
	return errors.Join(err, damaged)
}

func revokeCA(cmd *cobra.Command, args []string) error {
	ca, err := openCA(args[0])
	if err != nil {
		return err
	}
	if err := ca.Revoke(args[1]); errors.Is(err, authority.ErrUnknown) {
		return fail(exitRefused, "%w: roomgate cloud ca list shows whom it was given", err)
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "the certificates of gateway %s are revoked: bring %s to its broker and send it SIGHUP; a restart also cuts off the connection that is there\n", args[1], filepath.Join(args[0], authority.ListFile))
	return err
}

func certifyBackend(cmd *cobra.Command, args []string) error {
	ca, err := openCA(args[0])
	if err != nil {
		return err
	}
	certificate, key, err := ca.Backend(args[1])
	if errors.Is(err, authority.ErrBackend) {
		return fail(exitUsage, "%w", err)
	} else if err != nil {
		return err
	}
	at := filepath.Join(args[0], "backends", args[1])
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	if err := errors.Join(atomicfile.Write(at+".key", key, nil), atomicfile.Write(at+".crt", certificate, nil)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "certificate: %s.crt\nits key: %s.key\n", at, at)
	return err
}

func writeCRL(cmd *cobra.Command, args []string) error {
	ca, err := openCA(args[0])
	if err == nil {
		err = ca.WriteList()
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "the list is written again: bring %s to the broker and send it SIGHUP\n", filepath.Join(args[0], authority.ListFile))
	return err
}

// certify claims a gateway, and answers its request for a certificate. That request proves that the claim
// was taken: the receipt may come by another broker, once the certificate is used.
func (l *cloudLink) certify(cmd *cobra.Command, ca *authority.Authority, gateway string, claim backend.Claim, sealed backend.SealedClaim) error {
	id, err := l.send(cmd.Context(), gateway, cloud.LevelClaim, sealed)
	if err != nil {
		return err
	}
	wait, _ := cmd.Flags().GetDuration("wait")
	for end := time.After(wait); ; {
		m, ok := l.next(cmd.Context(), end)
		if !ok {
			return fail(exitUnreachable, "no request for a certificate has come within %v: is the code the one that the gateway shows, and is it online?", wait)
		}
		var e cloud.Envelope
		var said receipt
		var request cloud.Enrolled
		_, _, level, _, _ := cloud.ParseTopic(m.Topic)
		switch {
		case json.Unmarshal(m.Payload, &e) != nil:
		case level == cloud.LevelReceipt && json.Unmarshal(e.Data, &said) == nil && said.CommandID == id:
			if err := said.verdict(); err != nil {
				return err
			}
		case level == cloud.LevelEnrol && json.Unmarshal(e.Data, &request) == nil:
			answer, err := ca.Answer(gateway, request)
			if errors.Is(err, cloud.ErrEnrolment) { // of an earlier claim
				continue
			}
			if err == nil {
				_, err = l.send(cmd.Context(), gateway, cloud.LevelEnrol, answer)
			}
			if err != nil {
				return err
			}
			if wantsJSON(cmd) {
				return show.JSON(cmd.OutOrStdout(), map[string]string{"gateway_id": gateway, "organization_id": claim.OrganizationID})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "gateway %s belongs to %s, and has its certificate\n", gateway, claim.Organization)
			return err
		}
	}
}

// certified is how the certificate of a gateway is.
func certified(g fleet.Gateway) string {
	switch c := g.Certificate; {
	case !g.Revoked.IsZero():
		return "revoked"
	case c == nil:
		return "-"
	case c.Until.IsZero():
		return show.Plain(c.State)
	default:
		return show.Plain(c.State) + " until " + c.Until.Format(time.DateOnly)
	}
}
