package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
)

// program is how the user can call this program.
func program() string {
	if strings.Contains(os.Args[0], "/go-build") { // go run
		return "go run ./cmd/roomgate"
	}
	if found, err := exec.LookPath("roomgate"); err == nil && found == os.Args[0] {
		return "roomgate" // as the service has it
	}
	return os.Args[0]
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
	if program == "roomgate" || !strings.Contains(text, "roomgate ") {
		return text
	}
	return ownCommand().ReplaceAllString(text, "${1}"+strings.ReplaceAll(program, "$", "$$")+" ${2}")
}

// asCalled is a text for the one who has called this program.
func asCalled(text string) string { return calledAs(program(), text) }
