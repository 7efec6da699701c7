package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"roomgate/agent"
	"roomgate/agent/backup"
	"roomgate/agent/tlsauthority"
)

// undo brings back what was there before the last restore.
func (r *restoring) undo() error {
	c, err := loadConfig(r.cmd)
	if err != nil {
		return err
	}
	before := filepath.Join(c.Data, backup.BeforeName)
	if _, err := os.Stat(filepath.Join(before, backup.DatabaseName)); errors.Is(err, fs.ErrNotExist) {
		return fail(exitFailed, "%s has nothing to bring back: no gateway was there before the last restore", c.Data)
	}
	err = replaceWith(c.Data, func(p *backup.Plan, dir string) error {
		for _, name := range []string{backup.DatabaseName, backup.SecretName} {
			if err := copyInto(dir, filepath.Join(before, name)); err != nil && (name == backup.DatabaseName || !errors.Is(err, fs.ErrNotExist)) {
				return err
			}
		}
		p.NoAuthority = backup.HadNoAuthority(before)
		if err := copyAuthority(dir, before); err != nil {
			return err
		}
		if err := oldConfiguration(p, before); err != nil {
			return err
		}
		_, err := agent.Rekey(r.cmd.Context(), dir, agent.NewLife{})
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.cmd.OutOrStdout(), "the data from before the restore is back in %s; --undo again brings the restored gateway back\n", c.Data)
	return err
}

// oldConfiguration plans to bring the configuration back to where it was.
func oldConfiguration(p *backup.Plan, before string) error {
	text, err := os.ReadFile(filepath.Join(before, backup.ConfigName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	raw, e := os.ReadFile(filepath.Join(before, backup.PlaceName))
	if err = errors.Join(err, e); err != nil {
		return err
	}
	var place struct {
		Config string `json:"config"`
	}
	if err := json.Unmarshal(raw, &place); err != nil || place.Config == "" {
		return fmt.Errorf("%s does not say where the configuration was: %w", before, err)
	}
	p.Configuration(place.Config, text)
	return nil
}

// copyAuthority brings the authority of the building back, if the restore has brought another.
func copyAuthority(dir, before string) error {
	old := filepath.Join(before, tlsauthority.Dir)
	if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	files, err := os.ReadDir(old)
	dir = filepath.Join(dir, tlsauthority.Dir)
	err = errors.Join(err, os.Mkdir(dir, 0o700))
	for _, f := range files {
		if err == nil {
			err = copyInto(dir, filepath.Join(old, f.Name()))
		}
	}
	return errors.Join(err, os.Chmod(filepath.Join(dir, tlsauthority.RootFile), 0o644))
}

func copyInto(dir, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if err := checkFree(dir, info.Size()); err != nil {
		return err
	}
	to, err := os.OpenFile(filepath.Join(dir, filepath.Base(path)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
