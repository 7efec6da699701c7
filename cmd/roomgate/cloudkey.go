package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/cmd/roomgate/show"
)

const cloudKeyCreateHelp = `Makes a key that the cloud signs with, writes its secret half to FILE, and shows
the public half. The secret half stays with who gives the commands, and nowhere
else; each process that signs wants a key of its own.

The first key comes to a gateway by its claim: roomgate cloud claim --key FILE.
With --for it is brought to a gateway that holds one already, which --key names.
There both count then, until the old one is revoked.`

func newCloudKey() *cobra.Command {
	create := &cobra.Command{Use: "create FILE", Short: "make a key that the cloud signs with", Long: cloudKeyCreateHelp,
		Example: "  roomgate cloud key create backend.key\n  roomgate cloud key create next.key --for berlin-3 --key backend.key",
		Args:    cobra.ExactArgs(1), RunE: action(createCloudKey)}
	create.Flags().String("for", "", "`GATEWAY` that is to hold the key, by a configuration that --key signs")
	create.Flags().StringSlice("may", nil, "what it may sign at the gateway of --for: command, config; else both")
	list := &cobra.Command{Use: "list GATEWAY", Short: "list the keys that a gateway verifies signatures by",
		Long: "Waits for the next heartbeat of a gateway, which names the keys that it holds, and\nsays whether a command to a door has to be signed.",
		Args: cobra.ExactArgs(1), RunE: action(listCloudKeys)}
	revoke := &cobra.Command{Use: "revoke GATEWAY KEYID", Short: "revoke a key at a gateway",
		Long:    "Waits for the next heartbeat of a gateway, and sends it a configuration that names\nall its keys but this one. Another one of them signs that. Of the\nconfiguration that the broker keeps, only what --key had signed is signed again.\nThe gateway keeps the rest, and the broker does not: send it again.",
		Example: "  roomgate cloud key revoke berlin-3 7177ac986170fa7a --key next.key",
		Args:    cobra.ExactArgs(2), RunE: action(revokeCloudKey)}
	for _, cmd := range []*cobra.Command{create, list, revoke} {
		cloudFlags(cmd)
		cmd.Flags().Duration("wait", 45*time.Second, "how long to wait for a heartbeat, and for the receipt")
	}
	signingFlag(create)
	signingFlag(revoke)
	return group("key", "keys that the cloud signs with", create, list, revoke)
}

// signingFlag adds the flag for the key that a command signs with.
func signingFlag(cmd *cobra.Command) {
	cmd.Flags().Var(new(signingKey), "key", "`FILE` of the key to sign with, as roomgate cloud key create wrote it")
}

// signer is what a command signs with; nil: nothing.
func signer(cmd *cobra.Command) (*backend.Signer, error) {
	path := text(cmd, "key")
	if path == "" {
		return nil, nil
	}
	raw, err := readGiven(cmd, path, maxGiven)
	if err != nil {
		return nil, fail(exitUsage, "--key: %w", err)
	}
	s, err := backend.ReadSigner(raw)
	if err != nil {
		return nil, fail(exitUsage, "--key %s: %w: make one with roomgate cloud key create", path, err)
	}
	return s, nil
}

func createCloudKey(cmd *cobra.Command, args []string) error {
	by, err := signer(cmd)
	if err != nil {
		return err
	}
	gateway := text(cmd, "for")
	if (gateway == "") != (by == nil) {
		return fail(exitUsage, "--for and --key belong together: name the gateway, and the key that it holds already")
	}
	may, _ := cmd.Flags().GetStringSlice("may")
	if len(may) > 0 && gateway == "" {
		return fail(exitUsage, "--may goes with --for: the first key, which comes with the claim, signs both")
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	raw, err := backend.WriteKey(key)
	if err != nil {
		return err
	}
	if err := writeNew(args[0], raw); err != nil {
		return err
	}
	public := backend.NewSigner(key).Public()
	public.May = may
	if gateway != "" {
		err := changeKeys(cmd, gateway, by, func(held []backend.SigningKey) ([]backend.SigningKey, error) {
			return append(held, public), nil
		})
		var coded *fault
		if errors.As(err, &coded) && coded.code == exitRefused { // else it may have come, and be held
			return errors.Join(err, os.Remove(args[0]))
		}
		if err != nil {
			return err
		}
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), public)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "key %s\npublic %s\n", public.ID, base64.StdEncoding.EncodeToString(public.Key))
	return err
}

// writeNew writes a file that was not there, for its owner alone.
func writeNew(path string, raw []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fail(exitUsage, "%s is there already: name a new file", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Sync(), f.Close())
}

// heldKeys is what a heartbeat says of keys.
type heldKeys struct {
	DoorOrders  string   `json:"door_orders"`
	SigningKeys []string `json:"signing_keys"`
}

func listCloudKeys(cmd *cobra.Command, args []string) error {
	l, err := dialKeys(cmd, args[0])
	if err != nil {
		return err
	}
	defer l.close()
	held, _, err := l.keys(cmd, args[0])
	if err != nil {
		return err
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), held)
	}
	for _, id := range held.SigningKeys {
		fmt.Fprintf(cmd.OutOrStdout(), "key %s\n", id)
	}
	words := "door orders signed: a command that opens a door needs a signature"
	if held.DoorOrders != "signed" {
		words = "door orders unsigned: a command that opens a door needs no signature"
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), words)
	return err
}

func revokeCloudKey(cmd *cobra.Command, args []string) error {
	by, err := signer(cmd)
	switch {
	case err != nil:
		return err
	case by == nil:
		return fail(exitUsage, "--key is missing: name the file of another key that the gateway holds")
	case by.Public().ID == args[1]:
		return fail(exitUsage, "%s cannot revoke itself: sign with another key that the gateway holds", args[1])
	}
	err = changeKeys(cmd, args[0], by, func(held []backend.SigningKey) ([]backend.SigningKey, error) {
		rest := slices.DeleteFunc(slices.Clone(held), func(k backend.SigningKey) bool { return k.ID == args[1] })
		if len(rest) == len(held) {
			return nil, fail(exitRefused, "gateway %s holds no key %s: roomgate cloud key list shows its keys", args[0], args[1])
		}
		return rest, nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "key %s is revoked at gateway %s\n", args[1], args[0])
	return err
}

// dialKeys connects to what tells of a gateway's keys.
func dialKeys(cmd *cobra.Command, gateway string) (*cloudLink, error) {
	if !cloud.ValidGateway(gateway) {
		return nil, fail(exitUsage, "%q is no gateway's id: want letters, digits, dots, dashes and underscores", gateway)
	}
	topics := cloud.Topics{Gateway: gateway}
	return dialCloud(cmd, topics.Up(cloud.LevelReceipt), topics.Up(cloud.LevelHeartbeat), topics.Down("+"))
}

// keys waits for a heartbeat. It returns as well what is to be signed again of the
// configuration that the broker keeps for the gateway; empty: it keeps none.
func (l *cloudLink) keys(cmd *cobra.Command, gateway string) (held heldKeys, config map[string]json.RawMessage, err error) {
	wait, _ := cmd.Flags().GetDuration("wait")
	fmt.Fprintf(cmd.ErrOrStderr(), "waiting for the next heartbeat of gateway %s, which names its keys: one comes every 30 s\n", gateway)
	kept := keptConfig{cloud.Topics{Gateway: gateway}, map[string]cloud.Message{}}
	for end := time.After(wait); ; {
		m, ok := l.next(cmd.Context(), end)
		if !ok {
			return held, nil, fail(exitUnreachable, "no heartbeat has come within %v: is the gateway %s online? \"roomgate cloud fleet\" says so", wait, gateway)
		}
		_, up, level, _, _ := cloud.ParseTopic(m.Topic)
		var e cloud.Envelope
		switch {
		case !up:
			if cloud.PartLevel(level) == cloud.LevelConfig {
				kept.keep(m)
			}
		case json.Unmarshal(m.Payload, &e) != nil:
		case up && level == cloud.LevelHeartbeat:
			err = json.Unmarshal(e.Data, &held)
			return held, kept.mayBeSigned(l), err
		}
	}
}

// changeKeys sends a gateway the configuration that it has with other keys.
func changeKeys(cmd *cobra.Command, gateway string, by *backend.Signer, change func([]backend.SigningKey) ([]backend.SigningKey, error)) error {
	l, err := dialKeys(cmd, gateway)
	if err != nil {
		return err
	}
	defer l.close()
	l.signer = by
	held, config, err := l.keys(cmd, gateway)
	if err != nil {
		return err
	}
	var all []backend.SigningKey
	for _, id := range held.SigningKeys {
		all = append(all, backend.SigningKey{ID: id})
	}
	if all, err = change(all); err != nil {
		return err
	}
	var revision uint64
	_ = json.Unmarshal(config["revision"], &revision) // 0: there was none
	config["revision"], _ = json.Marshal(revision + 1)
	if config["signing_keys"], err = json.Marshal(all); err != nil {
		return err
	}
	got, err := l.ask(cmd, gateway, cloud.LevelConfig, config)
	if err != nil {
		return err
	}
	return got.verdict()
}
