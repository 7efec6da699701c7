package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// program is how the user can call this program.
func program() string {
	if strings.Contains(os.Args[0], "/go-build") { // go run
		return "go run ./cmd/roomgate"
	}
	if inPath(os.Args[0]) {
		return "roomgate" // as the service has it
	}
	return os.Args[0]
}

// inPath says whether a program is the one that a shell finds by its name.
func inPath(program string) bool {
	found, err := exec.LookPath("roomgate")
	if err != nil || !filepath.IsAbs(program) {
		return false
	}
	one, err1 := os.Stat(found)
	other, err2 := os.Stat(program)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// ownCommands finds a command of this program in a text, as "roomgate claim".
var ownCommands struct {
	once    sync.Once
	command *regexp.Regexp
}

func ownCommand() *regexp.Regexp {
	ownCommands.once.Do(func() {
		var names []string
		for _, c := range newRoot().Commands() {
			names = append(names, regexp.QuoteMeta(c.Name()))
		}
		ownCommands.command = regexp.MustCompile(`(^|[\s"(])roomgate (` + strings.Join(names, "|") + `)\b`)
	})
	return ownCommands.command
}

// calledAs is a text whose commands begin with the program: who runs bin/roomgate cannot
// type roomgate.
func calledAs(program, text string) string {
	if program == "roomgate" || strings.ContainsAny(program, `"\`) || !strings.Contains(text, "roomgate ") { // a log of JSON stays one
		return text
	}
	return ownCommand().ReplaceAllString(text, "${1}"+strings.ReplaceAll(program, "$", "$$")+" ${2}")
}

// asCalled is a text for the one who has called this program.
func asCalled(text string) string { return calledAs(program(), text) }
