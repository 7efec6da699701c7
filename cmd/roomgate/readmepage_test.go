package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a block of a page is.
const (
	langConsole = "console" // commands behind "$ ", "> " goes on with one, and what they print
	langShell   = "sh"      // commands that have to work
	langSetup   = "setup"   // the same in a comment: readers do not see it
)

// readmePage is one README.
type readmePage struct {
	name   string // its path from the top
	text   string
	blocks []block
}

// block is one fenced part of a page.
type block struct {
	line     int
	lang     string
	reason   string // why it is not executed here; empty: it is
	text     string
	commands []string // every line of them
	steps    []step   // of a console
}

// step is a command and what it prints.
type step struct {
	command string
	output  []string
}

// executable says whether anything of a page is typed, or is said not to be.
func (p readmePage) executable() bool {
	return slices.ContainsFunc(p.blocks, func(b block) bool { return b.lang == langConsole || b.lang == langShell })
}

// readmePages reads every README of the tree.
func readmePages(t *testing.T) (found []readmePage) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && hidden(d.Name()) {
			return filepath.SkipDir
		}
		if d.Name() != "README.md" {
			return nil
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		found = append(found, readmePage{name, string(text), blocksOf(string(text))})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// readPage reads one README.
func readPage(t *testing.T, name string) readmePage {
	t.Helper()
	all := readmePages(t)
	i := slices.IndexFunc(all, func(p readmePage) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return all[i]
}

var (
	fence     = regexp.MustCompile("^( *)```(.*)$")
	notHere   = regexp.MustCompile(`^ *<!-- not executed here: (.+) -->$`)
	setupLine = regexp.MustCompile(`^ *<!-- setup: (.+) -->$`)
)

// blocksOf finds the blocks of a page in order.
func blocksOf(text string) (blocks []block) {
	var open *block
	indent, reason := "", ""
	for i, line := range strings.Split(text, "\n") {
		mark := fence.FindStringSubmatch(line)
		switch {
		case open != nil && mark != nil:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.take(strings.TrimPrefix(line, indent))
		case mark != nil:
			open, indent = &block{line: i + 1, lang: mark[2], reason: reason}, mark[1]
		default:
			if s := setupLine.FindStringSubmatch(line); s != nil {
				blocks = append(blocks, block{line: i + 1, lang: langSetup, commands: s[1:]})
			}
		}
		reason = ""
		if r := notHere.FindStringSubmatch(line); r != nil {
			reason = r[1]
		}
	}
	return blocks
}

// take adds a line to a block.
func (b *block) take(line string) {
	b.text += line + "\n"
	if b.lang != langConsole {
		if b.lang == langShell && strings.TrimSpace(line) != "" {
			b.commands = append(b.commands, line)
		}
		return
	}
	command, isCommand := strings.CutPrefix(line, "$ ")
	more, goesOn := strings.CutPrefix(line, "> ")
	switch {
	case isCommand:
		b.commands, b.steps = append(b.commands, command), append(b.steps, step{command: command})
		return
	case len(b.steps) == 0:
		return // TestReadmeBlocks wants a command
	}
	last := &b.steps[len(b.steps)-1]
	if goesOn && len(last.output) == 0 {
		b.commands, last.command = append(b.commands, more), last.command+"\n"+more
	} else {
		last.output = append(last.output, line)
	}
}

// section is the text of a page below a heading, up to the next one of its rank.
func (p readmePage) section(heading string) string {
	_, text, _ := strings.Cut(p.text, "\n"+heading+"\n")
	rank, _, _ := strings.Cut(heading, " ")
	text, _, _ = strings.Cut(text, "\n"+rank+" ")
	return text
}
