package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"roomgate/agent"
	"roomgate/agent/health"
	"roomgate/agent/update"
)

// updateKeys are the public keys, separated by commas, that bundles are signed
// with; set by the linker, besides those of the configuration.
var updateKeys string

const (
	// bundleTime bounds how long a bundle may take to come and to be unpacked.
	bundleTime = 10 * time.Minute
	// probeTime bounds how long a new binary may take to say what it is.
	probeTime = 30 * time.Second
)

// openUpdates prepares what takes updates, and its doors.
func (g *gateway) openUpdates(end func()) (*update.Runner, error) {
	keys, err := update.ParseKeys(append([]string{updateKeys}, g.config.Update.Keys...)...)
	if err != nil {
		return nil, fmt.Errorf("the keys of updates: %w", err)
	}
	releases := update.New(g.config.Data, version, agent.Schema, keys)
	releases.Release = g.released
	r := update.NewRunner(releases, g.updated(), update.PaceOf(g.config.Update.Trial), g.log, end)
	g.loops = append(g.loops, loop{"updates", r.Run})
	r.Fetch = fetchBundle(updateClient())
	r.Taking = update.Install{Probe: g.probe}
	g.extra = map[string]http.Handler{
		"GET /update":      http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answerDoor(w, r.Status(), nil) }),
		"POST /update/now": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { hurryWaiting(w, r) }),
		"POST /update":     http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { takeUpdate(w, q, r) }),
	}
	g.figures = func(w io.Writer) { r.Status().WriteMetrics(w) }
	return r, nil
}

// passedOver are the releases that the start of this program passed over.
func (g *gateway) passedOver() (all []health.NotStarted) {
	if g.end == nil {
		return nil
	}
	for _, n := range update.New(g.config.Data, version, agent.Schema, nil).State().NotStarted {
		all = append(all, health.NotStarted(n))
	}
	return all
}

// updated is what an update knows of the building.
func (g *gateway) updated() update.Gateway {
	h := g.agent.Health
	return update.Gateway{Ready: h.Ready, Progress: h.Progress, Busy: h.Busy, Note: h.NoteGateway,
		Online: g.agent.Cloud.Connected, URL: g.agent.CloudConfig.UpdateURL}
}

// takeUpdate installs the bundle that a request carries.
func takeUpdate(w http.ResponseWriter, q *http.Request, r *update.Runner) {
	patient := http.NewResponseController(w)
	_ = patient.SetReadDeadline(time.Now().Add(bundleTime)) // without one it only has less time
	_ = patient.SetWriteDeadline(time.Now().Add(bundleTime))
	ctx, cancel := context.WithTimeout(q.Context(), bundleTime)
	defer cancel()
	if _, err := r.Take(ctx, q.Body, q.URL.Query().Get("again") != ""); err != nil {
		answerDoor(w, nil, err)
		return
	}
	answerDoor(w, r.Status(), nil)
	r.Look(q.URL.Query().Get("now") != "")
}

// hurryWaiting tries the release that waits at once.
func hurryWaiting(w http.ResponseWriter, r *update.Runner) {
	s := r.Status()
	if s.Next == "" {
		answerDoor(w, nil, errors.New("no release waits for its trial: name the bundle to install"))
		return
	}
	s.Waits = ""
	answerDoor(w, s, nil)
	r.Look(true)
}

// probe starts an unpacked program to see that this machine can, that it is what
// its manifest says, and that it takes the configuration in use.
func (g *gateway) probe(ctx context.Context, p *update.Program, m update.Manifest) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	out, said, err := try(p.Command(ctx, "version", "--output", "json"))
	var v versionInfo
	switch {
	case err != nil:
		return &update.Refused{Cause: update.Unfit, Reason: fmt.Sprintf("%s does not start on this machine: %v %s", m.Version, err, said)}
	case json.Unmarshal(out, &v) != nil || update.Canonical(v.Version) != m.Version || v.Schema != m.Schema:
		return &update.Refused{Cause: update.Unfit, Reason: fmt.Sprintf("the bundle says that it is %s with schema %d, and its binary says %s with %d: have it made again",
			m.Version, m.Schema, cmp.Or(v.Version, "nothing"), v.Schema)}
	case g.file == "":
		return nil
	}
	if _, said, err := try(p.Command(ctx, "check-config", g.file)); err != nil {
		return &update.Refused{Cause: update.Unfit, Reason: fmt.Sprintf("%s cannot run with %s, change that first: %s", m.Version, g.file, said)}
	}
	return nil
}

// try runs a program and returns what it prints, and the first line that it says
// in an error.
func try(cmd *exec.Cmd) (out []byte, said *head, err error) {
	said = &head{most: 512}
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &printed, said, time.Second
	err = cmd.Run()
	return printed.Bytes(), said, err
}

// head keeps the first line of what a child says: a crash says what happened
// first, and goes on for pages.
type head struct {
	most int
	text bytes.Buffer
}

func (h *head) Write(p []byte) (int, error) {
	if free := h.most - h.text.Len(); free > 0 {
		h.text.Write(p[:min(free, len(p))])
	}
	return len(p), nil
}

func (h *head) String() string {
	first, _, _ := strings.Cut(h.text.String(), "\n")
	return strings.TrimPrefix(first, "roomgate: ")
}
