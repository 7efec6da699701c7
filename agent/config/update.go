package config

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"roomgate/agent/atomicfile"
	"roomgate/agent/auth"

	"go.yaml.in/yaml/v4"
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
		if _, err := auth.ParsePublicKey(k); err != nil {
			r.refuse(fmt.Sprintf("update.keys[%d]", i), "%v", err)
		}
	}
	span(r, "update.trial", u.Trial, time.Second, time.Hour)
}

// Basics are what a program has to know before it may become another one.
type Basics struct {
	Data string   // the data folder
	Keys []string // update.keys, as they stand there
	ID   string   // gateway.id, empty: nobody knows
}

// idIn finds gateway.id in a text that is no YAML. It is large, and mostly not needed.
var idIn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^gateway:[ \t]*(?:\{[ \t]*|(?:#.*)?\r?\n(?:[ \t]+[^i\s].*\n)*[ \t]+)id:[ \t]*["']?([A-Za-z0-9_.-]{1,64})`)
})

// BasicsIn reads the basics of a configuration file, or the defaults. It takes any
// file, for a program that may be older than the file.
func BasicsIn(path string) Basics {
	var c struct {
		Gateway struct {
			ID string `yaml:"id"`
		} `yaml:"gateway"`
		Data   string `yaml:"data"`
		Update struct {
			Keys []string `yaml:"keys"`
		} `yaml:"update"`
	}
	if text, err := atomicfile.Read(path, 0, maxFile); err == nil && len(text) <= maxFile {
		if yaml.Unmarshal(text, &c) != nil { // what cannot be read names nothing, but people who stand before it want to know which one it is
			if id := idIn().FindSubmatch(text); id != nil && c.Gateway.ID == "" {
				c.Gateway.ID = string(id[1])
			}
		}
	}
	if c.Data == "" {
		c.Data = Default().Data
	}
	return Basics{c.Data, c.Update.Keys, c.Gateway.ID}
}
