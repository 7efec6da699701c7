package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent"
	"roomgate/agent/atomicfile"
	"roomgate/agent/config"
	"roomgate/agent/support"
	"roomgate/store"
)

const supportHelp = `Writes FILE, a .tar.gz for somebody who helps from afar: version, what the doctor
finds, the configuration, figures, the last events, lines of the journal, and
how much is in the database. FILE - is the standard output.

There is no secret in it and nothing of anybody: passwords, keys, codes and
addresses, and the names of people, rooms and meetings are removed. Look into it
before you hand it on: it is plain text. A gateway that does not run is looked
at from outside.`

// What goes into a bundle at most.
const (
	bundleEvents  = 200 // what one request gives
	bundleLines   = 2000
	bundleJournal = 4 << 20 // bytes
	journalTime   = 15 * time.Second
)

func newSupportBundle() *cobra.Command {
	cmd := &cobra.Command{Use: "support-bundle FILE", Short: "write a support bundle, without secrets and names",
		Long: supportHelp, Args: cobra.ExactArgs(1), RunE: action(runSupport)}
	gatewayFlags(cmd)
	cmd.Flags().String("unit", "roomgate", "the `UNIT` whose journal is taken")
	return cmd
}

// supportAnswer is what the gateway itself says for a bundle.
type supportAnswer struct {
	agent.SupportView
	Config string `json:"config"` // redacted
}

// giveSupport answers GET /support.
func (g *gateway) giveSupport(w http.ResponseWriter, _ *http.Request) {
	view, err := g.agent.Support()
	if err != nil {
		answerProblem(w, err.Error())
		return
	}
	answer := supportAnswer{SupportView: view}
	if text, err := g.configuration(); err == nil {
		var removed []string
		answer.Config, removed = config.Redact(text.Text)
		answer.Private = append(answer.Private, removed...)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// supporting is a bundle in the making.
type supporting struct {
	cmd    *cobra.Command
	client *client // nil: the gateway does not run
	answer supportAnswer
	scrub  *support.Scrubber
	bundle *support.Bundle
	knows  bool     // what is private is known
	lacks  []string // what could not be had, and why
}

func runSupport(cmd *cobra.Command, args []string) (err error) {
	if args[0] == "-" {
		s := &supporting{cmd: cmd, bundle: support.NewBundle(os.Stdout, time.Now())} // as it is: what people read is made printable
		defer s.tell()
		return errors.Join(s.fill(), s.bundle.Close())
	}
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fail(exitFailed, "%s is there: choose another name", args[0])
	}
	if err != nil {
		return err
	}
	s := &supporting{cmd: cmd, bundle: support.NewBundle(f, time.Now())}
	err = errors.Join(s.fill(), s.bundle.Close(), f.Sync(), f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(args[0]))
	}
	s.tell()
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is written: look into it before you hand it on\n", args[0])
	return err
}

// tell says what could not be had.
func (s *supporting) tell() {
	for _, l := range s.lacks {
		fmt.Fprintf(s.cmd.ErrOrStderr(), "roomgate: not in it: %s\n", l)
	}
}

func (s *supporting) fill() error {
	d := diagnose(s.cmd)
	s.ask()
	s.scrub = support.NewScrubber(s.answer.Private)
	err := s.bundle.JSON("version.json", map[string]string{"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
	err = errors.Join(err, s.bundle.Text("config.txt", s.answer.Config))
	if s.knows || s.answer.Config != "" && d.outside {
		err = errors.Join(err, s.json("doctor.json", d))
	} else {
		s.lack("the doctor's findings", errors.New("they may have names in them that nobody knows to remove"))
	}
	err = errors.Join(err, s.bundle.JSON("database.json", map[string]any{"tables": s.answer.Tables, "files": s.files()}))
	if s.client != nil {
		err = errors.Join(err, s.gateway(), s.metrics(), s.events())
	}
	if s.knows {
		err = errors.Join(err, s.journal())
	} else {
		s.lack("the journal", errors.New("it may have names in it that nobody knows to remove"))
	}
	return errors.Join(err, s.bundle.Text("missing.txt", s.scrub.Text(strings.Join(append(s.lacks, ""), "\n"))))
}

// ask learns what is private: from the running gateway, or from the files of a
// stopped one. Where neither is possible, what could tell it is left out.
func (s *supporting) ask() {
	path, err := findSocket(text(s.cmd, "data"))
	if err == nil {
		s.client = overSocket(path, answerTime)
		if err = s.client.call(s.cmd.Context(), http.MethodGet, "/support", nil, &s.answer); err == nil {
			s.knows = true
			return
		}
	}
	s.client = nil
	s.lack("the state of the running gateway", err)
	c, err := loadConfig(s.cmd)
	if err == nil {
		s.answer.SupportView, err = stoppedView(s.cmd.Context(), c.Data)
	}
	s.knows = err == nil
	if err != nil {
		s.lack("the database", err)
	}
	raw, err := atomicfile.Read(configFile(s.cmd), os.O_RDONLY, maxGiven)
	if err != nil {
		s.lack("the configuration", err)
		return
	}
	var removed []string
	s.answer.Config, removed = config.Redact(raw)
	s.answer.Private = append(s.answer.Private, removed...)
}

// stoppedView reads the database of a gateway that does not run.
func stoppedView(ctx context.Context, data string) (v agent.SupportView, err error) {
	lock, err := lockGateway(data)
	if err != nil {
		return v, err
	}
	defer lock.Close()
	if err := store.Check(ctx, filepath.Join(data, agent.Database), nil); err != nil {
		return v, err
	}
	return agent.SupportStopped(data)
}

func (s *supporting) lack(what string, err error) {
	s.lacks = append(s.lacks, fmt.Sprintf("%s: %v", what, err))
}

// json adds a value of which every text is scrubbed.
func (s *supporting) json(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return err
	}
	return s.bundle.JSON(name, s.scrub.Value(plain))
}

// get asks the gateway; what it does not answer is lacking.
func (s *supporting) get(path string, out any) bool {
	err := s.client.call(s.cmd.Context(), http.MethodGet, path, nil, out)
	if err != nil {
		s.lack(path, err)
	}
	return err == nil
}

func (s *supporting) gateway() error {
	var health map[string]any
	if !s.get("/gateway", &health) {
		return nil
	}
	return s.json("gateway.json", health)
}

func (s *supporting) metrics() error {
	answer, raw, err := s.client.ask(s.cmd.Context(), http.MethodGet, "/metrics", nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		s.lack("/metrics", err)
		return nil
	}
	return s.bundle.Text("metrics.txt", s.scrub.Text(string(raw)))
}

func (s *supporting) events() error {
	var page eventPage
	if !s.get(fmt.Sprintf("/devices/events?limit=%d", bundleEvents), &page) {
		return nil
	}
	for i, e := range page.Events {
		page.Events[i].Details = support.Event(e.Type, e.Details)
	}
	return s.json("events.json", page.Events)
}

// files lists the data folder: names and sizes.
func (s *supporting) files() []map[string]any {
	c, err := loadConfig(s.cmd)
	dir := text(s.cmd, "data")
	if err == nil && dir == "" {
		dir = c.Data
	}
	if dir == "" && s.client != nil {
		dir = filepath.Dir(s.client.where)
	}
	all := []map[string]any{}
	ours, _, err := traces(dir)
	if err != nil {
		s.lack("the files of the data folder", err)
	}
	for _, path := range ours {
		if info, err := os.Stat(path); err == nil {
			all = append(all, map[string]any{"name": filepath.Base(path), "bytes": info.Size(), "modified_at": info.ModTime().UTC().Truncate(time.Second)})
		}
	}
	return all
}

// journal adds the last lines of the unit's journal, without the name of the
// machine.
func (s *supporting) journal() error {
	ctx, cancel := context.WithTimeout(s.cmd.Context(), journalTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "journalctl", "--unit", text(s.cmd, "unit"), "--lines", fmt.Sprint(bundleLines),
		"--output", "short-iso-precise", "--no-hostname", "--no-pager", "--quiet")
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.lack("the journal", err)
		return nil
	}
	raw, readErr := io.ReadAll(io.LimitReader(out, bundleJournal))
	cancelled := ctx.Err()
	_, _ = io.Copy(io.Discard, out)
	if err := errors.Join(readErr, cancelled, cmd.Wait()); err != nil {
		s.lack("the journal", err)
	}
	if len(raw) == 0 {
		return nil
	}
	return s.bundle.Text("journal.txt", s.scrub.Text(string(raw)))
}
