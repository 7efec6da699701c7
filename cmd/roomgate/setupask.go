package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/drivers/all"
	"roomgate/drivers/session"

	"roomgate/cmd/roomgate/show"
)

// scanTime bounds the search for hubs.
const scanTime = 40 * time.Second

// question is one thing that a person is asked.
type question struct {
	ask     string
	usual   string // taken with the return key; "-" clears it
	help    string // after "?"
	choices []string
	secret  bool
	check   func(string) error
}

// put asks until the answer can be taken.
func (w *wizard) put(q question) (string, error) {
	prompt := q.ask
	if q.usual != "" {
		prompt += " [" + q.usual + "]"
	}
	for {
		said, err := w.hear(prompt+": ", q.secret)
		if err != nil {
			return "", err
		}
		switch said {
		case "?":
			fmt.Fprintln(w.Out, "  "+q.help)
			if len(q.choices) > 0 {
				fmt.Fprintln(w.Out, "  there is: "+show.Plain(strings.Join(q.choices, " ")))
			}
			continue
		case "":
			said = q.usual
		case "-":
			said = ""
		}
		if said == "" || q.check == nil {
			return said, nil
		}
		if err := q.check(said); err != nil {
			fmt.Fprintf(w.Out, "  %v; ? explains\n", err)
			continue
		}
		return said, nil
	}
}

func (w *wizard) yes(ask string, usual bool, help string) (bool, error) {
	words := map[bool]string{true: "y", false: "n"}
	said, err := w.put(question{ask: ask, usual: words[usual], help: help, check: func(s string) error {
		if !slices.Contains([]string{"y", "yes", "n", "no"}, strings.ToLower(s)) {
			return errors.New("answer y or n")
		}
		return nil
	}})
	return strings.HasPrefix(strings.ToLower(said), "y"), err
}

// hear reads a line, of a secret without its echo.
func (w *wizard) hear(prompt string, secret bool) (string, error) {
	if secret {
		defer w.quiet()()
	}
	said, err := w.Line(w.cmd.Context(), prompt)
	if errors.Is(err, show.ErrNobody) {
		return "", fail(exitFailed, "nobody answers here: give the answers with --answers FILE and --yes")
	}
	return said, err
}

// quiet turns the echo off until what it returns is called. Where there is no
// terminal nothing is echoed.
func (w *wizard) quiet() func() {
	fd := int(os.Stdin.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}
	}
	off := *before
	off.Lflag &^= unix.ECHO
	_ = unix.IoctlSetTermios(fd, unix.TCSETS, &off)
	return func() {
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, before)
		fmt.Fprintln(w.Out)
	}
}

// ask asks for everything: the gateway, the cloud, the rooms.
func (w *wizard) ask(a *setup.Answers) error {
	known := config.Config{}
	if c, err := config.Load(w.options.File, all.All()); err == nil {
		known = *c
	}
	if known.Gateway.ID == "" {
		name, _ := os.Hostname()
		known.Gateway.ID = setup.Slug(name)
	}
	fmt.Fprintln(w.Out, "\nReturn takes what stands in [ ], - takes nothing, ? explains.")
	id, err := w.put(question{ask: "gateway id", usual: known.Gateway.ID, check: idWords,
		help: "who this gateway is in the fleet and in the cloud's topics: 1 to 64 of a-z A-Z 0-9 . _ -, unique among your gateways"})
	if err != nil {
		return err
	}
	a.Set("gateway.id", id)
	name, err := w.put(question{ask: "gateway name", usual: known.Gateway.Name, help: "what people call it, as: house 3, ground floor"})
	if err != nil {
		return err
	}
	a.Set("gateway.name", name)
	if err := w.askCloud(a, known.Cloud, id); err != nil {
		return err
	}
	for _, s := range known.Spaces {
		fmt.Fprintf(w.Out, "room %s is configured and stays: name it to change it\n", s.Name)
	}
	for first := len(known.Spaces) == 0; ; first = false {
		more, err := w.askRoom(a, first)
		if err != nil || !more {
			return err
		}
	}
}

func (w *wizard) askCloud(a *setup.Answers, known config.Cloud, id string) error {
	address, err := w.put(question{ask: "cloud broker", usual: known.URL, check: brokerAddress,
		help: "mqtts://HOST[:8883], or mqtt://HOST without encryption; nothing: the building works for itself"})
	if err != nil || address == "" || address == known.URL {
		return err
	}
	a.Set("cloud.url", address)
	usual := known.Username
	if usual == "" {
		usual = id
	}
	user, err := w.put(question{ask: "cloud user", usual: usual, help: "the name with which this gateway logs in; - for none"})
	if err != nil || user == "" {
		return err
	}
	a.Set("cloud.username", user)
	password, err := w.put(question{ask: "cloud password", secret: true, help: "it goes to a file that only the gateway reads, and is not shown"})
	a.Set("cloud.password", password)
	return err
}

func idWords(s string) error {
	if len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return errors.New("want 1 to 64 of a-z A-Z 0-9 . _ -")
	}
	return nil
}

func brokerAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Scheme != "mqtt" && u.Scheme != "mqtts" || u.User != nil {
		return errors.New("want mqtt://HOST[:PORT] or mqtts://HOST[:PORT]")
	}
	return nil
}

func zone(s string) error {
	if _, err := time.LoadLocation(s); err != nil || s == "Local" {
		return errors.New("want an IANA name like Europe/Berlin")
	}
	return nil
}

func hubAddress(s string) error {
	if !session.ValidAddress(s) {
		return errors.New("want HOST:PORT, as 10.0.0.31:1883")
	}
	return nil
}
