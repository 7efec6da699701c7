package update

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Status is how updates stand.
type Status struct {
	Running string     `json:"running"`           // a version; empty: none does
	Release bool       `json:"release"`           // it is an installed one, not the package
	Other   string     `json:"other,omitempty"`   // the confirmed release that runs if this one is lost
	Next    string     `json:"next,omitempty"`    // is installed and waits for its trial
	Since   *time.Time `json:"since,omitempty"`   // it waits, by a clock that may have been wrong
	Waits   string     `json:"waits,omitempty"`   // for what; empty: its trial is about to begin
	Fetch   *Fetching  `json:"fetch,omitempty"`   // what the cloud wants and is not here yet
	Trial   *Trial     `json:"trial,omitempty"`   // under way
	Failed  *Failure   `json:"failed,omitempty"`  // the last one that was given up, until one proves itself
	Refused *Refusal   `json:"refused,omitempty"` // the last bundle that was not taken, until one is
	// NotStarted are confirmed releases that the last start passed over, and this
	// one if the next start would.
	NotStarted []NotStarted `json:"not_started,omitempty"`
	Damaged    string       `json:"damaged,omitempty"` // what is wrong with the note of all this
	Keys       int          `json:"keys"`              // that bundles may be signed with
}

// Status returns how updates stand, as far as the disk tells.
func (r *Releases) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.read()
	u := Status{Running: r.Running, Trial: s.Trial, Failed: s.Failed, Refused: s.Refused, NotStarted: r.passedOver(s)}
	if err != nil {
		u.Damaged = err.Error()
	}
	running := Canonical(r.Running)
	for _, one := range []*Release{s.Current, s.Previous} {
		switch {
		case one == nil:
		case one.Version == running:
			u.Release = true
		case u.Other == "" && !u.passedOver(one.Version):
			u.Other = one.Version
		}
	}
	u.Release = u.Release || s.Trial != nil && s.Trial.Version == running
	if s.Next != nil {
		u.Next, u.Since = s.Next.Version, s.NextAt
	}
	return u
}

// passedOver are the confirmed releases that do not start, and why.
func (r *Releases) passedOver(s State) []NotStarted {
	running := Canonical(r.Running)
	if !r.Release || slices.ContainsFunc(s.NotStarted, func(n NotStarted) bool { return n.Version == running }) {
		return s.NotStarted
	}
	if _, err := r.manifest(running); err != nil { // the program that started this one did not ask, or had another key
		return append(s.NotStarted, NotStarted{running, err.Error()})
	}
	return s.NotStarted
}

func (u Status) passedOver(version string) bool {
	return slices.ContainsFunc(u.NotStarted, func(n NotStarted) bool { return n.Version == version })
}

// Status returns how updates stand.
func (u *Runner) Status() Status {
	s := u.Releases.Status()
	s.Keys, s.Fetch = len(u.Releases.Keys), u.arrived(u.fetching.Load())
	if s.Next != "" {
		s.Waits = u.Gateway.Busy()
	}
	return s
}

// Lines says it for people, the most important first.
func (u Status) Lines() []string {
	all := []string{u.Running + " runs"}
	switch {
	case u.Running == "":
		all[0] = "no gateway runs"
	case !u.Release:
		all[0] += ", which the package installed"
	}
	switch {
	case u.Other != "" && u.Running == "":
		all = append(all, u.Other+" is installed")
	case u.Other != "":
		all = append(all, u.Other+" is kept beside it")
	}
	if t := u.Trial; t != nil {
		all = append(all, fmt.Sprintf("%s is on trial, start %d of %d; if it does not prove itself, %s runs again", t.Version, t.Tries, MaxTries, t.From))
	}
	switch {
	case u.Next != "" && u.Waits != "":
		all = append(all, fmt.Sprintf("%s is installed and waits: %s", u.Next, u.Waits))
	case u.Next != "":
		all = append(all, u.Next+" is installed, and its trial is about to begin")
	}
	if f := u.Fetch; f != nil {
		all = append(all, f.line())
	}
	if f := u.Failed; f != nil {
		all = append(all, fmt.Sprintf("%s was given up: %s", f.Version, strings.ReplaceAll(f.Reason, "\n", ", ")))
	}
	if f := u.Refused; f != nil {
		all = append(all, "the last bundle was not taken: "+f.seen())
	}
	for _, n := range u.NotStarted {
		all = append(all, n.line(u.Running))
	}
	if u.Damaged != "" {
		all = append(all, u.Damaged)
	}
	if u.Keys == 0 {
		all = append(all, "the gateway takes no update: set update.keys in the configuration")
	}
	return all
}

// line says it for people; running is the version of the release that runs.
func (n NotStarted) line(running string) string {
	reason := strings.ReplaceAll(n.Reason, "\n", ", ")
	if n.Version == Canonical(running) {
		return fmt.Sprintf("%s cannot be verified for another start: %s", n.Version, reason)
	}
	return fmt.Sprintf("%s is not started: %s", n.Version, reason)
}

// seen is the reason, and from where the bundle was.
func (f *Refusal) seen() string {
	reason := strings.ReplaceAll(f.Reason, "\n", ", ")
	if f.URL != "" {
		reason += " (from " + f.URL + ")"
	}
	return reason
}

func (f *Fetching) line() string {
	have := fmt.Sprintf("%.1f MB", float64(f.Have)/1e6)
	if f.Size > 0 {
		have += fmt.Sprintf(" of %.1f", float64(f.Size)/1e6)
	}
	if f.Problem == "" {
		return fmt.Sprintf("the gateway fetches %s, %s are here", f.URL, have)
	}
	return fmt.Sprintf("%s cannot be fetched, %s are here, it is tried again: %s", f.URL, have, strings.ReplaceAll(f.Problem, "\n", ", "))
}
