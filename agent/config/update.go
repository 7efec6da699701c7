package config

import (
	"fmt"
	"os"
	"time"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/update"
)

// Update says whose updates are taken.
type Update struct {
	// Keys are the public keys that bundles are signed with, besides those that
	// were built in: what "roomgate update keygen" shows.
	Keys []string `yaml:"keys"`
	// Trial is how long a new release must be healthy before it is kept. One that
	// is not after three times as long is given up.
	Trial time.Duration `yaml:"trial"`
}

func (r *reader) update(u Update) {
	for i, k := range u.Keys {
		if _, err := update.ParseKey(k); err != nil {
			r.refuse(fmt.Sprintf("update.keys[%d]", i), "%v", err)
		}
	}
	span(r, "update.trial", u.Trial, time.Second, time.Hour)
}

// DataIn is the data folder that a configuration file names, or the default. It
// takes any file, for a program that may be older than the file.
func DataIn(path string) string {
	var c struct {
		Data string `yaml:"data"`
	}
	if text, err := os.ReadFile(path); err == nil && len(text) <= maxFile {
		_ = yaml.Unmarshal(text, &c) // what cannot be read names nothing
	}
	if c.Data == "" {
		return Default().Data
	}
	return c.Data
}
