package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manSection is that of programs for administrators.
const manSection = "8"

// manFiles is what the page of the root command says about a packaged gateway.
var manFiles = [][2]string{
	{defaultConfig, "the configuration; /usr/share/doc/roomgate/examples/gateway.yaml shows every key, gateway.yaml(5) explains it"},
	{"/etc/roomgate/credentials/", "passwords, one in a file, which systemd hands to the service: ${CREDENTIALS_DIRECTORY}/secret_NAME in the configuration"},
	{"/var/lib/roomgate/", "the database and the secret of this gateway"},
	{"/run/roomgate/control.sock", "the control socket, for root and the group roomgate"},
}

// newMan writes the pages itself: the generator that comes with the library of
// commands takes Markdown for granted, which these texts are not, and pulls two
// more libraries into the gateway.
func newMan() *cobra.Command {
	return &cobra.Command{Use: "man DIR", Short: "write the manual pages into a folder, one for each command and one for the configuration",
		Args: cobra.ExactArgs(1), RunE: action(func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			day, err := manDay()
			if err != nil {
				return err
			}
			if err := writeMan(cmd.Root(), args[0], day); err != nil {
				return err
			}
			r, err := readReference()
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(args[0], referenceName), []byte(r.manPage(day)), 0o644)
		})}
}

// manDay is the date on the pages: empty, or that of a build that wants to give
// the same bytes each time (reproducible-builds.org/specs/source-date-epoch).
func manDay() (string, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return "", nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
	}
	return time.Unix(seconds, 0).UTC().Format(time.DateOnly), nil
}

// writeMan writes the page of a command and of those below it.
func writeMan(cmd *cobra.Command, dir, day string) error {
	path := filepath.Join(dir, manName(cmd)+"."+manSection)
	if err := os.WriteFile(path, []byte(manPage(cmd, day)), 0o644); err != nil {
		return err
	}
	for _, below := range manBelow(cmd) {
		if err := writeMan(below, dir, day); err != nil {
			return err
		}
	}
	return nil
}

// manName is the name of a command's page.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manBelow(cmd *cobra.Command) (found []*cobra.Command) {
	for _, c := range cmd.Commands() {
		// What the library itself says about each shell stays in its help.
		if c.IsAvailableCommand() && cmd.Name() != "completion" {
			found = append(found, c)
		}
	}
	return found
}

func manPage(cmd *cobra.Command, day string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %s \"%s\" \"%s\"\n", roff(strings.ToUpper(manName(cmd))), manSection, day, roff("roomgate "+version))
	b.WriteString(".nh\n.ad l\n") // names of commands are not broken
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	synopsis := cmd.UseLine()
	if len(manBelow(cmd)) > 0 {
		synopsis = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", roff(synopsis))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", manText(cmp.Or(cmd.Long, cmd.Short)))
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n%s", manText(cmd.Example))
	}
	manCommands(&b, cmd)
	manFlags(&b, cmd)
	if !cmd.HasParent() {
		b.WriteString(".SH FILES\n")
		for _, f := range manFiles {
			manEntry(&b, f[0], f[1])
		}
	}
	manSee(&b, cmd)
	return b.String()
}

func manCommands(b *strings.Builder, cmd *cobra.Command) {
	for i, c := range manBelow(cmd) {
		if i == 0 {
			b.WriteString(".SH COMMANDS\n")
		}
		manEntry(b, c.Name(), c.Short)
	}
}

func manFlags(b *strings.Builder, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	b.WriteString(".SH OPTIONS\n")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "[]" {
			usage += ", " + f.DefValue + " by default"
		}
		manEntry(b, name, usage)
	})
}

// manSee leads to the pages above and below.
func manSee(b *strings.Builder, cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, manName(cmd.Parent()))
	}
	for _, c := range manBelow(cmd) {
		pages = append(pages, manName(c))
	}
	for i, p := range pages {
		pages[i] = fmt.Sprintf("\\fB%s\\fR(%s)", roff(p), manSection)
	}
	if len(pages) > 0 {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", strings.Join(pages, ",\n"))
	}
}

// manEntry is a term with what it means.
func manEntry(b *strings.Builder, term, meaning string) {
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", roff(term), roff(meaning))
}

// manText sets a text as the help shows it: an empty line ends a paragraph, and
// what is indented stays as it stands.
func manText(text string) string {
	var b strings.Builder
	literal := false
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimRight(line, "\n ")
		if indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); indented != literal {
			literal = indented
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[literal])
		}
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	if literal {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// roffSpecial is what means something to the typesetter. A hyphen is a minus,
// so that what is copied from a page works.
var roffSpecial = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", "\\`", `"`, `\(dq`)

// roff is text that is set as it stands.
func roff(text string) string {
	text = roffSpecial.Replace(text)
	if strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return text
}
