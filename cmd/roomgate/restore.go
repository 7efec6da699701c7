package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"roomgate/agent"
	"roomgate/agent/backup"
	"roomgate/agent/config"
	"roomgate/drivers/all"

	"roomgate/cmd/roomgate/show"
	"roomgate/store/disk"
)

const restoreHelp = `Brings a gateway back from a backup, on this machine or on other hardware:
database, device secret, the building's own authority, configuration file and what
it names in its folder, if that is not here already. Nothing is touched before
the whole backup has been read and found good. Then everything changes at once: cut
off at any moment, the machine has either the old or the new. It is refused
while a gateway runs with the directory.

Two machines with one identity must not both run: the cloud would take each for
the other. Switch the old one off for good, or give this one another name with
--as, which also is how a second building is made from the first one's backup:
letters, notifications and events that waited are then left to the old one.

What is sealed in the database stays readable, and the keys of integrations and
displays stay good. Tokens that were issued end: people sign in again. The
system key stays what it was, unless --new-key makes another. Messages to the
cloud go on with numbers above all that the old machine may have used.

What was there before is kept in the directory as before-restore until the next
restore; --undo brings it back. --check only reads the backup.`

func newRestore() *cobra.Command {
	cmd := &cobra.Command{Use: "restore FILE", Short: "bring a gateway back from a backup, here or on other hardware",
		Long: restoreHelp, Args: cobra.MaximumNArgs(1), RunE: action(runRestore)}
	cmd.Flags().String("config", "", withVariable("`FILE` that the configuration goes to", "config"))
	cmd.Flags().String("data", "", withVariable("`DIR` of the database; else the one that the configuration names", "data"))
	cmd.Flags().String("as", "", "give the gateway another `ID`")
	cmd.Flags().Bool("new-key", false, "make another system key, and show it once")
	cmd.Flags().Bool("keep-config", false, "leave the configuration file as it is")
	cmd.Flags().Bool("check", false, "only list the contents of the backup and check them")
	cmd.Flags().Bool("undo", false, "bring back the data from before the last restore")
	passphraseFlag(cmd)
	outputFlag(cmd)
	return cmd
}

// restoring is a restore under way.
type restoring struct {
	cmd      *cobra.Command
	file     string
	word     string
	progress *show.Progress

	opened *backup.Opened
	path   string // of the configuration
	text   []byte // the new configuration; nil: it stays
	config *config.Config
	key    string   // the new system key
	kept   []string // files that are here already, and differ from the backup's
}

func (r *restoring) flag(name string) bool {
	on, _ := r.cmd.Flags().GetBool(name)
	return on
}

func runRestore(cmd *cobra.Command, args []string) error {
	r := &restoring{cmd: cmd, progress: newProgress(cmd), path: configFile(cmd)}
	defer r.progress.End()
	var err error
	switch {
	case r.flag("undo") && len(args) > 0, !r.flag("undo") && len(args) == 0:
		return fail(exitUsage, "restore wants the file of a backup, or --undo alone")
	case r.flag("keep-config") && text(cmd, "as") != "":
		return fail(exitUsage, "--as changes the configuration, which --keep-config leaves as it is: choose one")
	case r.flag("undo"):
		return r.undo()
	}
	if r.path, err = filepath.Abs(r.path); err != nil {
		return err
	}
	r.file = args[0]
	if r.word, err = passphrase(cmd, false); err != nil {
		return err
	}
	if r.opened, err = r.read(""); err != nil {
		return err
	}
	r.progress.End()
	if r.flag("check") {
		info, err := os.Stat(r.file)
		if err != nil {
			return err
		}
		return showBackup(cmd, madeBackup{r.file, info.Size(), r.opened.Manifest})
	}
	if err := r.configure(); err != nil {
		return err
	}
	if err := r.replace(); err != nil {
		return err
	}
	return r.show()
}

// read reads the backup to its end; the database goes to dir, if it is named.
func (r *restoring) read(dir string) (*backup.Opened, error) {
	f, err := openGiven(r.file)
	if err != nil {
		return nil, fail(exitFailed, "the backup cannot be read: %w", err)
	}
	defer f.Close()
	body, err := backup.Unseal(f, r.word)
	if err == nil {
		var o *backup.Opened
		what := "reading"
		if dir != "" {
			what = "restoring"
		}
		if o, err = backup.Read(r.cmd.Context(), body, agent.Schema, dir, r.progress.Of(what)); err == nil {
			return o, nil
		}
	}
	switch {
	case errors.Is(err, backup.ErrPassphrase):
		return nil, fail(exitRefused, "%s: %w: nothing was changed", r.file, err)
	case errors.Is(err, backup.ErrDamaged):
		return nil, fail(exitFailed, "%s %w: nothing was changed, take an older backup", r.file, err)
	case errors.Is(err, backup.ErrNewer), errors.Is(err, backup.ErrNotBackup):
		return nil, fail(exitRefused, "%s %w", r.file, err)
	}
	return nil, err
}

// configure finds out with which configuration the gateway will run, and that
// it can.
func (r *restoring) configure() (err error) {
	set := overlay(r.cmd.Flags())
	if r.flag("keep-config") {
		if r.config, err = loadConfig(r.cmd); err != nil {
			return err
		}
		return nil
	}
	r.text = r.opened.Small[backup.ConfigName]
	if id := text(r.cmd, "as"); id != "" {
		if r.text, err = config.WithGateway(r.text, id); err != nil {
			return &fault{exitUsage, fmt.Errorf("--as: %w", err)}
		}
	}
	c, err := config.Parse(backup.ConfigName+" of the backup", r.text, all.All(), set...)
	if err != nil {
		return &fault{exitConfig, err}
	}
	r.config, err = absoluteData(c)
	return err
}

// replace puts the backup in the place of what is there.
func (r *restoring) replace() error {
	return replaceWith(r.config.Data, func(p *backup.Plan, dir string) error {
		if err := checkFree(dir, r.opened.Size()); err != nil {
			return err
		}
		o, err := r.read(dir)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, backup.SecretName), o.Small[backup.SecretName], 0o600); err != nil {
			return err
		}
		if text(r.cmd, "as") == "" { // it certifies the names of the gateway that it comes from
			if err := o.PutAuthority(dir); err != nil {
				return err
			}
		} else {
			p.NoAuthority = o.SameAuthority(r.config.Data)
		}
		if r.text != nil {
			p.Configuration(r.path, r.text)
		}
		life := agent.NewLife{NewKey: r.flag("new-key"), Another: text(r.cmd, "as") != ""}
		if r.key, err = agent.Rekey(r.cmd.Context(), dir, life); err != nil || r.text == nil {
			return err
		}
		return r.putFiles(o)
	})
}

// putFiles brings the files that the configuration names and that are not here.
// They come before the rest: alone they change nothing.
func (r *restoring) putFiles(o *backup.Opened) (err error) {
	_, r.kept, err = backup.Places{Folder: filepath.Dir(r.path), Service: r.config.Data}.Put(o)
	if err != nil {
		return fmt.Errorf("a file that the configuration names cannot be put to its place: %w", err)
	}
	return nil
}

// replaceWith lets fill prepare the new files of a data directory, and puts
// them in the places of the old ones. An error changes nothing.
func replaceWith(data string, fill func(p *backup.Plan, dir string) error) error {
	lock, err := lockGateway(data)
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := backup.Recover(data); err != nil {
		return err
	}
	p, dir, err := backup.Prepare(data)
	if err != nil {
		return err
	}
	if err := fill(p, dir); err != nil {
		return errors.Join(err, p.Abandon())
	}
	if err := p.Commit(); err != nil {
		done, e := backup.Recover(data)
		if e == nil && !done {
			return fmt.Errorf("%w: everything is as it was", err)
		}
		if !done || e != nil {
			return errors.Join(err, e)
		}
	}
	return nil
}

func (r *restoring) show() error {
	missing := missingFiles(filepath.Dir(r.path), r.text)
	before := ""
	if _, err := os.Stat(filepath.Join(r.config.Data, backup.BeforeName, backup.DatabaseName)); err == nil {
		before = filepath.Join(r.config.Data, backup.BeforeName)
	}
	if wantsJSON(r.cmd) {
		return show.JSON(r.cmd.OutOrStdout(), struct {
			Gateway string   `json:"gateway_id"`
			Data    string   `json:"data"`
			Before  string   `json:"before,omitempty"`
			Missing []string `json:"missing_files,omitempty"`
			Kept    []string `json:"kept_files,omitempty"` // they differ from the backup's
			Key     string   `json:"system_key,omitempty"`
		}{r.config.Gateway.ID, r.config.Data, before, missing, r.kept, r.key})
	}
	out := r.cmd.OutOrStdout()
	fmt.Fprintf(out, "gateway %s of %s is restored to %s\n", show.Plain(r.config.Gateway.ID), r.opened.Created.Format(time.DateTime+" UTC"), r.config.Data)
	if r.key != "" {
		fmt.Fprintf(out, "system key %s (shown only now, send it as X-API-Key)\n", r.key)
	}
	if before != "" {
		fmt.Fprintf(out, "the data from before is in %s: %s brings it back\n", before, asCalled("roomgate restore --undo"))
	}
	if len(r.kept) > 0 {
		fmt.Fprintf(out, "these were here already and differ from the backup's, they stay: %s\n", show.Plain(strings.Join(r.kept, ", ")))
	}
	if len(missing) > 0 {
		fmt.Fprintf(out, "bring these along, the configuration names them: %s\n", show.Plain(strings.Join(missing, ", ")))
	}
	if text(r.cmd, "as") != "" && r.opened.HasAuthority() {
		fmt.Fprintln(out, asCalled("the authority of the building stays with the gateway that it comes from: make one for this one with roomgate tls init"))
	}
	if text(r.cmd, "as") == "" {
		fmt.Fprintf(out, "if the machine it comes from can still run, switch it off for good: two must not be %s\n", show.Plain(r.config.Gateway.ID))
	}
	return nil
}

// missingFiles are those that the configuration names and that are not here.
func missingFiles(folder string, text []byte) (missing []string) {
	for _, name := range config.NamedFiles(text) {
		path := name
		if secret, is := strings.CutPrefix(name, "${CREDENTIALS_DIRECTORY}/secret_"); is {
			path = filepath.Join(folder, "credentials", secret)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, name)
		}
	}
	return missing
}

// diskReserve is left for the gateway itself.
const diskReserve = 16 << 20

// checkFree refuses early what would fill the disk.
func checkFree(dir string, size int64) error {
	free, err := disk.Free(dir)
	if err != nil {
		return err
	}
	if free < size+diskReserve {
		return fail(exitFailed, "the restore needs %s of disk in %s, %s are free: make room, nothing was changed",
			show.Bytes(size+diskReserve), dir, show.Bytes(free))
	}
	return nil
}
