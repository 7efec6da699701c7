package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"roomgate/agent/atomicfile"
	"roomgate/agent/printable"
	"roomgate/agent/setup"

	"roomgate/cmd/roomgate/show"
)

// errBack leads to the question before.
var errBack = errors.New("back to the question before")

// errLeft is the end of the answers, as by control and D, in the middle of the questions.
var errLeft = errors.New("setup was left before its last question")

// question is one thing that a person is asked.
type question struct {
	ask     string
	usual   string // taken with the return key; "-" clears it
	help    string // after "?"
	choices []string
	secret  bool
	needed  string // why it cannot be left empty; empty: it can
	forget  bool   // the answer is of this moment, and not offered again
	check   func(string) error
}

// plain is the question without what the return key comes to.
func (q question) plain() string {
	ask, _, _ := strings.Cut(q.ask, " (return: ")
	return ask
}

// memory is what a person has answered. Who goes back is asked everything again: what
// was before is answered from here, in silence, and what was behind is offered.
type memory struct {
	given []string          // in the order of the questions
	place int               // of the next question
	room  int               // which of the rooms it is about, from 1; 0: none
	typed map[string]string // the last answer to each question, by its name
	keys  map[string]bool   // the names of secret ones
	lost  map[string]bool   // those that were typed last time, and not kept
}

// name is what a question is remembered by.
func (m *memory) name(q question) string {
	return fmt.Sprintf("%d %s", m.room, strings.TrimSpace(q.plain()))
}

// asks says whether the next question is one that a person has not answered.
func (m *memory) asks() bool { return m.place >= len(m.given) }

func (m *memory) take(q question, said string) string {
	m.given = append(m.given[:m.place], said)
	m.place++
	if !q.forget {
		m.typed[m.name(q)] = said
	}
	if q.secret {
		m.keys[m.name(q)] = true
		delete(m.lost, m.name(q))
	}
	return said
}

// back forgets the order of the last answer, not the answer.
func (m *memory) back() { m.given = m.given[:len(m.given)-1] }

// load remembers what was typed before and never written. The configuration that was
// written since is newer.
func (m *memory) load(file, configuration string) bool {
	kept, err := os.Stat(file)
	if err != nil {
		return false
	}
	if c, err := os.Stat(configuration); err == nil && c.ModTime().After(kept.ModTime()) {
		return false
	}
	raw, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(raw, &m.typed) != nil {
		return false
	}
	m.lost = map[string]bool{}
	for name, said := range m.typed {
		m.lost[name] = said == ""
	}
	return len(m.typed) > 0
}

// keep stores what was typed. Of a secret it stores only that there was one. Without
// anything there is no file.
func (m *memory) keep(file string) (bool, error) {
	open := maps.Clone(m.typed)
	maps.DeleteFunc(open, func(name, said string) bool { return m.keys[name] && said == "" })
	for name := range m.keys {
		if _, there := open[name]; there {
			open[name] = ""
		}
	}
	if len(open) == 0 {
		return false, nil
	}
	raw, err := json.MarshalIndent(open, "", "  ")
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil { // setup may be what makes it
		return true, err
	}
	return true, atomicfile.Write(file, raw, nil)
}

// put asks until the answer can be taken.
func (w *wizard) put(q question) (string, error) {
	if !w.memory.asks() {
		said := w.given[w.place]
		w.place++
		return said, nil
	}
	usual, prompt := w.offer(q)
	for {
		said, err := w.hear(prompt+": ", q.secret)
		if err != nil {
			return "", err
		}
		said, taken, err := w.read(q, said, usual)
		if err != nil {
			return "", err
		}
		if !taken {
			continue
		}
		near, err := objection(w.Out, q, said)
		if err == nil {
			return w.take(q, said), nil
		}
		if near != "" {
			usual, prompt = near, offering(q, near)
		}
	}
}

// offer is the answer that the return key takes, and the question that shows it.
func (m *memory) offer(q question) (usual, prompt string) {
	usual = q.usual
	shown := usual
	if typed, before := m.typed[m.name(q)]; before {
		if usual, shown = typed, typed; typed == "" && q.usual != "" {
			shown = "-"
		}
	}
	if q.secret && usual != "" {
		shown = "as typed before"
	}
	if shown == "" {
		return usual, q.ask
	}
	return usual, offering(q, shown)
}

// offering is a question with the answer that the return key takes.
func offering(q question, shown string) string { return q.plain() + " [" + shown + "]" }

// read makes an answer of a typed line. It explains what is no answer; then taken is false.
func (w *wizard) read(q question, line, usual string) (said string, taken bool, err error) {
	switch {
	case line == "?":
		w.explain(q)
		return "", false, nil
	case strings.EqualFold(line, "back") && w.place == 0:
		fmt.Fprintln(w.Out, "  this is the first question")
		return "", false, nil
	case strings.EqualFold(line, "back"):
		return "", false, errBack
	case line == "" && q.secret && w.lost[w.name(q)]:
		fmt.Fprintln(w.Out, "  it was typed last time and is not kept: type it again, or - for none")
		return "", false, nil
	case line == "":
		return usual, true, nil
	case line == "-":
		return "", true, nil
	}
	return line, true, nil
}

// objection tells the person what is wrong with an answer; near is the one that is probably meant.
func objection(out io.Writer, q question, said string) (near string, err error) {
	err = q.judge(said)
	var meant *setup.Meant
	switch {
	case errors.As(err, &meant):
		fmt.Fprintf(out, "  %v: return takes it, ? explains\n", err)
		return meant.Instead, err
	case err != nil:
		fmt.Fprintf(out, "  %v; ? explains\n", err)
	}
	return "", err
}

// judge says what is wrong with an answer.
func (q question) judge(said string) error {
	switch {
	case said == "" && q.needed != "":
		return errors.New(q.needed)
	case !q.secret && !printable.Line(said):
		return errors.New("it holds a character that nobody sees: type it again")
	case said == "" || q.check == nil:
		return nil
	}
	return q.check(said)
}

func (w *wizard) explain(q question) {
	fmt.Fprintln(w.Out, "  "+q.help)
	if len(q.choices) > 0 {
		fmt.Fprintln(w.Out, "  there is: "+show.Plain(strings.Join(q.choices, " ")))
	}
}

// say tells something that belongs to a question, once: not when it is answered from
// memory.
func (w *wizard) say(format string, args ...any) {
	if w.memory.asks() {
		fmt.Fprintf(w.Out, format+"\n", args...)
	}
}

func (w *wizard) yes(ask string, usual bool, help string) (bool, error) {
	return w.decide(question{ask: ask, usual: map[bool]string{true: "y", false: "n"}[usual], help: help})
}

// decide asks for yes or no.
func (w *wizard) decide(q question) (bool, error) {
	q.check = func(s string) error {
		if !slices.Contains([]string{"y", "yes", "n", "no"}, strings.ToLower(s)) {
			return errors.New("answer y or n")
		}
		return nil
	}
	said, err := w.put(q)
	return strings.HasPrefix(strings.ToLower(said), "y"), err
}

// hear reads a line, of a secret without its echo.
func (w *wizard) hear(prompt string, secret bool) (string, error) {
	if secret {
		defer w.quiet()()
	}
	said, err := w.Line(w.cmd.Context(), prompt)
	if errors.Is(err, show.ErrNobody) && w.place > 0 {
		return "", errLeft
	}
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
