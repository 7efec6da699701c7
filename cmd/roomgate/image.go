package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"roomgate/agent/atomicfile"
	"roomgate/agent/config"
	"roomgate/agent/seed"
	"roomgate/agent/setup"
	"roomgate/configs"
	"roomgate/drivers/all"

	"roomgate/cmd/roomgate/show"
)

const imageSeedHelp = `Writes the seed of a gateway onto the boot partition of its card, mounted at DIR:
the first start makes it the configuration. --answers is a piece of the
configuration in its own keys (see roomgate setup --help); ids may be left out.

With --csv it writes a folder for each gateway of a list instead, DIR/GATEWAY_ID,
whose file is then copied onto that gateway's card. The first line names the
columns, of which gateway_id is needed; each further line is a room. A line
without gateway_id is another room of the gateway above. --answers holds for all.

  gateway_id gateway_name cloud_url cloud_username cloud_password
  room timezone capacity floor         timezone is needed, as Europe/Berlin
  lock_relay lock_active_low lock_sense lock_contact
                                       lines as GPIO17; active_low is yes or no
  light_channel fan_channel fan_tach   channels as pwmchip0/0, a line
  o3_address o3_password               HOST:PORT
  camera_url camera_username camera_password, camera_device
  display                              yes or no

Commas or semicolons separate them. Everything is checked first: a mistake is
named with line and column, and nothing is written. A seed may hold passwords: it
is readable to you alone, and anybody who has the card has it until the first start.

With --package the card of a stock Raspberry Pi OS, Bookworm or Trixie, gets the
package too, and a line that installs it at the first start, without a network. The
card is one that has not been started yet. The first start writes the outcome into
roomgate-install.txt beside the seed.`

// maxList bounds a list of gateways, in bytes.
const maxList = 16 << 20

func newImage() *cobra.Command {
	cmd := &cobra.Command{Use: "seed DIR", Short: "write the seed of a gateway, or of a list of them",
		Long: imageSeedHelp, Args: cobra.ExactArgs(1), RunE: action(imageSeed)}
	f := cmd.Flags()
	f.String("answers", "", "`FILE` with what the configuration shall say")
	f.String("csv", "", "`FILE` with a list of gateways")
	for _, s := range settings {
		f.String(s.flag, "", withVariable(s.usage, s.flag))
	}
	f.String("package", "", "`FILE` of the Debian package that the card installs at its first start")
	f.Bool("force", false, "replace a seed that is there and says something else")
	return group("image", "prepare the cards of gateways", cmd)
}

func imageSeed(cmd *cobra.Command, args []string) error {
	dir, list := args[0], text(cmd, "csv")
	if err := checkImageFlags(cmd, list); err != nil {
		return err
	}
	if err := checkImageFolder(dir, list); err != nil {
		return err
	}
	seeds, err := imageSeeds(cmd, dir, list)
	if err != nil {
		return err
	}
	first, err := imagePackage(cmd, dir)
	if err != nil {
		return err
	}
	if err := writeSeeds(cmd, seeds); err != nil {
		return err
	}
	return writePackage(cmd, dir, first)
}

// checkImageFlags refuses flags for one card beside a list of many.
func checkImageFlags(cmd *cobra.Command, list string) error {
	switch {
	case list != "" && cmd.Flags().Changed("gateway"):
		return fail(exitUsage, "--gateway is one and --csv has many: leave --gateway out")
	case list != "" && text(cmd, "package") != "":
		return fail(exitUsage, "--package is for one card and --csv has many: call it once more for each card, with the seed of its folder as --answers")
	}
	return nil
}

// checkImageFolder refuses a folder that no seed goes to. The folder of a list is made, that of a card is mounted.
func checkImageFolder(dir, list string) error {
	if info, err := os.Stat(dir); (list == "" || !errors.Is(err, fs.ErrNotExist)) && (err != nil || !info.IsDir()) {
		return fail(exitUsage, "%s is no folder: mount the card's boot partition, and name where", dir)
	}
	if list == "" && !seed.IsBoot(dir) {
		return fail(exitUsage, "%s is no boot partition, which has config.txt and cmdline.txt, or EFI: mount the first partition of the card, and name where, as /media/NAME/bootfs, or write a folder to copy from with --csv", dir)
	}
	return nil
}

// imageSeeds are the seeds by their files, of the card or of each gateway of a list.
func imageSeeds(cmd *cobra.Command, dir, list string) (map[string][]byte, error) {
	fresh, err := setup.Fresh(configs.Gateway)
	if err != nil {
		return nil, err
	}
	// The file is the gateway's, not this machine's: there is none yet.
	o := setup.Options{File: filepath.Join(dir, "no-such-folder", "gateway.yaml"), Fresh: fresh,
		Credentials: filepath.Join(dir, "no-such-folder"), Kinds: all.All()}
	name, base, err := imageAnswers(cmd, o)
	if err != nil {
		return nil, err
	}
	if list != "" {
		o.Base = name
		files, err := listSeeds(cmd, dir, list, base, o)
		if err != nil {
			return nil, invalid(err)
		}
		return files, nil
	}
	o.Judge = impossible(cmd.Context())
	if _, err := setup.Prepare(name, base, o); err != nil {
		wantsGateway(err)
		return nil, invalid(err)
	}
	return map[string][]byte{filepath.Join(dir, seed.Name): base}, nil
}

// imagePackage are the files by which a card installs the package of --package, without it none.
func imagePackage(cmd *cobra.Command, dir string) ([]seed.File, error) {
	path := text(cmd, "package")
	if path == "" {
		return nil, nil
	}
	first, err := seed.Package(dir, path)
	if err != nil {
		return nil, fail(exitFailed, "%w", err)
	}
	return first, nil
}

// writePackage writes the files of a package onto the card, and says that the first start installs it.
func writePackage(cmd *cobra.Command, dir string, first []seed.File) error {
	for _, f := range first {
		if err := atomicfile.Write(filepath.Join(dir, f.Name), f.Data, nil); err != nil {
			return err
		}
	}
	if len(first) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is on the card too: the first start installs it, by %s\n", first[0].Name, first[len(first)-1].Name)
	return err
}

// wantsGateway adds to a missing id of the gateway the flag that gives one.
func wantsGateway(err error) {
	var list *config.Errors
	if !errors.As(err, &list) {
		return
	}
	for i, p := range list.Problems {
		if p.Key == "gateway.id" && strings.HasPrefix(p.Message, "gateway.id is missing") {
			list.Problems[i].Message += ", or --gateway ID"
		}
	}
}

// imageAnswers are the answers with the flags laid over them.
func imageAnswers(cmd *cobra.Command, o setup.Options) (name string, data []byte, err error) {
	name = "the flags"
	if file := text(cmd, "answers"); file != "" {
		name = file
		if data, err = readGiven(cmd, file, maxGiven); err != nil {
			return "", nil, fail(exitUsage, "read answers: %w", err)
		}
		if _, err := setup.ReadAnswers(name, data, o); err != nil {
			return "", nil, invalid(err)
		}
	}
	flags := setup.NewAnswers()
	for _, s := range overlay(cmd.Flags()) {
		flags.Set(s.Key, s.Value)
	}
	over, err := flags.YAML()
	if err != nil || len(over) == 0 {
		return name, data, err
	}
	data, err = setup.Lay(data, over)
	return name, data, err
}

func listSeeds(cmd *cobra.Command, dir, list string, base []byte, o setup.Options) (map[string][]byte, error) {
	text, err := readGiven(cmd, list, maxList)
	if err != nil {
		return nil, fail(exitUsage, "read list: %w", err)
	}
	seeds, err := seed.List(list, bytes.NewReader(text), base, o)
	if err != nil {
		return nil, err
	}
	files, folders := map[string][]byte{}, map[string]string{}
	for _, s := range seeds {
		folder := strings.ToLower(s.Gateway) // as FAT and others compare names
		if other, twice := folders[folder]; twice {
			return nil, fail(exitConfig, "%s: gateways %s and %s differ in small and capital letters only, which a folder does not show", list, other, s.Gateway)
		}
		folders[folder] = s.Gateway
		if s.Gateway == "." || s.Gateway == ".." {
			return nil, fail(exitConfig, "%s: gateway %s cannot be a folder", list, s.Gateway)
		}
		files[filepath.Join(dir, s.Gateway, seed.Name)] = s.Data
	}
	return files, nil
}

// writeSeeds writes all files or, if another seed is in the way, none.
func writeSeeds(cmd *cobra.Command, files map[string][]byte) error {
	for path, data := range files {
		there, err := atomicfile.Read(path, unix.O_NOFOLLOW, int64(len(data)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case string(there) != string(data) && !flagged(cmd, "force"):
			return fail(exitFailed, "%s is there and says something else, nothing was written: replace it with --force", path)
		}
	}
	for path, data := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := atomicfile.Write(path, data, nil); err != nil {
			return err
		}
	}
	what, secret := show.Count(len(files), "seed")+" written", 0
	for _, data := range files {
		if setup.HasSecrets(data) {
			secret++
		}
	}
	switch {
	case secret == 0:
		what += ": no passwords in it"
	case len(files) == 1:
		what += ": it holds passwords until its gateway has started once"
	case secret == len(files):
		what += ": each holds passwords until its gateway has started once"
	default:
		what += fmt.Sprintf(": %d of them hold passwords until their gateways have started once", secret)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), what)
	return err
}
