package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"roomgate/agent/config"
	"roomgate/agent/setup"

	"roomgate/cmd/roomgate/show"
)

// setting is a flag that lies over a key of the configuration file.
type setting struct {
	flag, key, usage string
}

var settings = []setting{
	{"data", "data", "`DIR` of the database"},
	{"listen", "http.listen", "`HOST:PORT` of the HTTP interface"},
	{"broker", "broker.listen", "`HOST:PORT` of the room devices' broker"},
	{"cloud", "cloud.url", "`URL` of the cloud's broker, mqtt:// or mqtts://, or several with commas between"},
	{"gateway", "gateway.id", "`ID` of this gateway in the cloud's topics"},
}

const dataUsage = "`DIR` of the gateway's data and control socket"

// environment are the flags that a variable can stand in for.
var environment = []string{"config", "data", "listen", "broker", "cloud", "gateway", "cloud-listen", allowLoopback, verbose, "url", "key", "output"}

// variable is a flag's name in the environment, as ROOMGATE_CLOUD_LISTEN.
func variable(flag string) string {
	return "ROOMGATE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// signingKey is the type of the flag --key that names a file to sign with: the
// variable is an API key.
type signingKey string

func (k *signingKey) String() string     { return string(*k) }
func (k *signingKey) Set(v string) error { *k = signingKey(v); return nil }
func (k *signingKey) Type() string       { return "string" }

// hasVariable says whether a variable stands in for a flag.
func hasVariable(f *pflag.Flag) bool {
	_, file := f.Value.(*signingKey)
	return !file && slices.Contains(environment, f.Name)
}

// fromEnvironment gives the flags that were not given what the environment
// says.
func fromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		value := os.Getenv(variable(f.Name))
		if f.Changed || value == "" || !hasVariable(f) {
			return
		}
		if e := f.Value.Set(value); e != nil && err == nil {
			err = fmt.Errorf("%s: %w", variable(f.Name), e)
		}
		// Changed stays false: it tells a flag from its variable.
	})
	return err
}

// given is a flag's value and who gave it; ok is false for a default.
func given(flags *pflag.FlagSet, name string) (value, origin string, ok bool) {
	f := flags.Lookup(name)
	switch {
	case f == nil:
		return "", "", false
	case f.Changed:
		return f.Value.String(), "--" + name, true
	case f.Value.String() != f.DefValue:
		return f.Value.String(), variable(name), true
	}
	return f.Value.String(), "", false
}

// overlay is what flags and environment lay over the configuration.
func overlay(flags *pflag.FlagSet) []config.Setting {
	var set []config.Setting
	for _, s := range settings {
		if value, origin, ok := given(flags, s.flag); ok {
			set = append(set, config.Setting{Key: s.key, Value: value, Origin: origin})
		}
	}
	return set
}

// gatewayFlags are those of a command that starts a gateway.
func gatewayFlags(cmd *cobra.Command) {
	cmd.Flags().String("config", "", withVariable("configuration `FILE`", "config"))
	for _, s := range settings {
		cmd.Flags().String(s.flag, "", withVariable(s.usage, s.flag))
	}
}

// clientFlags are those of a command that talks to a gateway.
func clientFlags(cmd *cobra.Command) {
	cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
	cmd.Flags().String("url", "", withVariable("`URL` of another gateway, as https://gateway:8080", "url"))
	cmd.Flags().String("key", "", withVariable("API `KEY` for --url", "key"))
	outputFlag(cmd)
}

func outputFlag(cmd *cobra.Command) {
	format := show.FormatTable
	cmd.Flags().Var(&format, "output", withVariable("`FORMAT`: table or json", "output"))
}

func withVariable(usage, flag string) string { return usage + " (" + variable(flag) + ")" }

// text is the value of a flag, empty if the command has none of that name.
func text(cmd *cobra.Command, flag string) string {
	value, _, _ := given(cmd.Flags(), flag)
	return value
}

// configFlag is the flag by which other commands find the configuration of this one, as
// " --config FILE"; empty: they find it without.
func configFlag(cmd *cobra.Command) string {
	if path := configFile(cmd); path != defaultConfig {
		return flagFor("config", path)
	}
	return ""
}

// folderFlag is the flag by which they find the gateway of a data folder.
func folderFlag(dir string) string {
	if dir == "" || dir == config.Default().Data || slices.Contains(demoDirectories(), dir) {
		return ""
	}
	return flagFor("data", dir)
}

func flagFor(name, path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return " --" + name + " " + setup.ShellWord(path)
}
