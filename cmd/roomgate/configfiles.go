package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"

	"roomgate/agent/atomicfile"
	"roomgate/agent/config"
)

// secretAdvice is what a configuration should say of passwords and of the files
// that it names. It is no mistake that a file is not there: the configuration may be
// that of another machine.
func secretAdvice(c *config.Config) (all []configAdvice) {
	for _, key := range c.EmptySecrets() {
		all = append(all, configAdvice{key, "is empty", "write it in quotes, as what follows # is a comment without them, or leave the key out"})
	}
	for _, key := range c.CutSecrets() {
		all = append(all, configAdvice{key, "has a comment behind it", "if what follows # is a part of it, write the whole in quotes"})
	}
	if user := c.Cloud; user.Username != "" && user.Password == "" && user.PasswordFile == "" && user.ClientCertificate == "" && !slices.Contains(c.EmptySecrets(), "cloud.password") {
		all = append(all, configAdvice{"cloud.username", "has no password beside it", "write cloud.password, or leave the user out: then somebody claims the gateway"})
	}
	for _, f := range c.Files() {
		if _, err := os.Stat(f.Path); errors.Is(err, fs.ErrNotExist) && !config.IsCredential(f.Path) {
			all = append(all, configAdvice{f.Key, "there is no " + f.Path + " on this machine", "write the file, or correct its path, unless the gateway runs on another machine"})
		}
	}
	return all
}

// logFiles logs the files of a configuration that this process cannot read. The
// gateway starts without them, as doors and displays need none.
func logFiles(c *config.Config, log *slog.Logger) {
	for _, f := range c.Files() {
		opened, err := atomicfile.Open(f.Path, os.O_RDONLY)
		if err == nil {
			err = opened.Close()
		}
		if err != nil {
			log.Error("cannot read a file of the configuration", "key", f.Key, "file", f.Path, "reason", err,
				"fix", "write the file, correct its path, or see roomgate doctor for who may read it")
		}
	}
}
