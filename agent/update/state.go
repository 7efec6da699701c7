// Package update takes signed releases of the gateway, keeps two of them side by
// side, and decides at each start which one runs.
//
// # How it cannot brick
//
// The packaged binary is never touched. It starts first, looks here, and becomes
// the release that is to run ([Releases.Choose]). A new release is on trial: each
// of its starts is counted on the disk before it happens, and only one that
// proves itself is confirmed. After MaxTries starts without that, or as soon as
// it gives up by itself, the one before runs again. What decides is one small
// file that is replaced whole, so that a power cut at any step leaves the state
// before the step or after it; a release is complete and synced before that file
// names it.
//
// Nothing in that folder is believed, for the user that the gateway runs as can
// write it: what starts is verified at each start against the keys of the package
// and of its configuration, and version, architecture and schema are those that
// were signed. The state can only say which of several signed releases is meant,
// and what is not newer than the package never is.
//
//	DATA/releases/state.json         which release runs, and which is on trial
//	DATA/releases/state.good         the same as of the last confirmation, should the first be lost
//	DATA/releases/1.4.0/roomgate     a release
//	DATA/releases/1.4.0/manifest.signed  its signature and manifest
//	DATA/releases/1.5.0.part/        one in the making, worthless
package update

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// The files in Dir.
const (
	Dir       = "releases" // in the data folder
	stateFile = "state.json"
	goodFile  = "state.good"
)

// MaxTries is how often a release may be started without being confirmed.
const MaxTries = 3

// maxNews bounds the news that nobody has fetched; the oldest go.
const maxNews = 8

// maxState bounds the state, in bytes: news and refusals, each with an address and a
// reason, every byte of which JSON may write as six.
const maxState = 256 << 10

// Release is a binary that was unpacked and verified.
type Release struct {
	Version string `json:"version"`
	Schema  int    `json:"schema"`
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"`
}

// Trial is a release that has to prove itself.
type Trial struct {
	Release
	From       string `json:"from"`                  // the version that ran before
	FromSchema int    `json:"from_schema,omitempty"` // of the database before
	Online     bool   `json:"online"`                // the cloud was reached before
	Tries      int    `json:"tries"`                 // starts so far
}

// Failure is a release that was given up.
type Failure struct {
	Release
	Reason string    `json:"reason"`
	At     time.Time `json:"at"` // by a clock that may have been wrong
}

// NotStarted is a confirmed release that the last start passed over.
type NotStarted struct {
	Version string `json:"version"`
	Reason  string `json:"reason"`
}

// News is the outcome of an update and has not been told yet.
type News struct {
	Event   string `json:"event"`
	Version string `json:"version"`
	From    string `json:"from,omitempty"` // the version that ran before
	Reason  string `json:"reason,omitempty"`
	Cause   Cause  `json:"cause,omitempty"`
	URL     string `json:"url,omitempty"`
}

// The events of News.
const (
	Installed = "updateInstalled" // waits for its trial
	Begun     = "updateBegun"     // its trial
	Done      = "updateDone"
	Failed    = "updateFailed"
	NotTaken  = "updateRefused"
	Damaged   = "releaseDamaged"
	Back      = "databaseReturned"
)

// State is which release runs. The packaged binary reads what a later release
// has written: fields may be added, and never change their meaning.
type State struct {
	Current    *Release     `json:"current,omitempty"`  // confirmed; nil: the packaged one
	Previous   *Release     `json:"previous,omitempty"` // confirmed before it
	Next       *Release     `json:"next,omitempty"`     // waits for its trial
	NextAt     *time.Time   `json:"next_at,omitempty"`  // since then
	Trial      *Trial       `json:"trial,omitempty"`
	Back       int          `json:"back,omitempty"`        // schema that the database has to go back to first; 0: none
	Newest     string       `json:"newest,omitempty"`      // ever confirmed; nothing older is taken
	NotStarted []NotStarted `json:"not_started,omitempty"` // at the last start, the newest first
	Failed     *Failure     `json:"failed,omitempty"`      // the last one
	Refused    *Refusal     `json:"refused,omitempty"`     // the last one
	Asked      string       `json:"asked,omitempty"`       // the URL that the cloud named last, dealt with
	News       []News       `json:"news,omitempty"`        // oldest first

	floor string // the older one that the last confirmation kept; nothing older starts
}

// tell adds news.
func (s *State) tell(n News) {
	s.News = append(s.News, n)
	s.News = s.News[max(0, len(s.News)-maxNews):]
}

// notStarted keeps which releases were not started, and tells those that are new.
func (s *State) notStarted(all []NotStarted) {
	for _, n := range all {
		if !slices.Contains(s.NotStarted, n) {
			s.tell(News{Event: Damaged, Version: n.Version, Reason: n.Reason})
		}
	}
	s.NotStarted = all
}

// fail gives the trial up.
func (s *State) fail(reason string) {
	s.tell(News{Event: Failed, Version: s.Trial.Version, From: s.Trial.From, Reason: reason})
	if s.Trial.Schema > s.Trial.FromSchema {
		s.Back = s.Trial.FromSchema
	}
	s.Failed = &Failure{s.Trial.Release, reason, time.Now().UTC().Truncate(time.Second)}
	s.Trial = nil
}

// known are the releases that something still needs.
func (s *State) known() (all []Release) {
	for _, r := range []*Release{s.Current, s.Previous, s.Next} {
		if r != nil {
			all = append(all, *r)
		}
	}
	if s.Trial != nil {
		all = append(all, s.Trial.Release)
	}
	return all
}

// read returns the state. One that is lost is replaced by that of the last
// confirmation; the error then says so, and the state is good. What that one says
// of how new the kept releases are holds in any case.
func (r *Releases) read() (s State, err error) {
	good, goodErr := readState(filepath.Join(r.Dir, goodFile))
	s, err = readState(filepath.Join(r.Dir, stateFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err != nil:
		if goodErr != nil && !errors.Is(goodErr, fs.ErrNotExist) {
			err = errors.Join(err, goodErr)
		}
		s, err = good, fmt.Errorf("cannot read which release runs, taking that of the last confirmation: %w", err)
	}
	s.floor = good.oldest()
	if Compare(s.Newest, good.Newest) < 0 {
		s.Newest = good.Newest
	}
	return s, err
}

// oldest is the version of the older of the confirmed releases, or "".
func (s State) oldest() string {
	switch {
	case s.Previous != nil:
		return s.Previous.Version
	case s.Current != nil:
		return s.Current.Version
	}
	return ""
}

func readState(path string) (s State, err error) {
	text, err := readSmall(path, maxState)
	if err != nil {
		return State{}, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, fmt.Errorf("%s: %w", path, err)
	}
	for _, one := range s.known() {
		if one.Version == "" || Canonical(one.Version) != one.Version { // it names a folder
			return State{}, fmt.Errorf("%s: %.70q is no version", path, one.Version)
		}
	}
	if s.Previous != nil && s.Current == nil || s.Trial != nil && s.Trial.Tries < 0 {
		return State{}, fmt.Errorf("%s: this is no state that a gateway writes", path)
	}
	return s, nil
}

// write stores the state.
func (r *Releases) write(name string, s State) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := r.disk.Mkdir(r.Dir); err != nil {
		return err
	}
	if err := writeWhole(r.disk, filepath.Join(r.Dir, name), append(text, '\n')); err != nil {
		return fmt.Errorf("store which release runs: %w", err)
	}
	return nil
}

// change reads the state, lets f change it, and stores it.
func (r *Releases) change(f func(*State) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, _ := r.read() // what is lost is replaced by the writing below
	if err := f(&s); err != nil {
		return err
	}
	return r.write(stateFile, s)
}

// State returns which release runs.
func (r *Releases) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, _ := r.read() // Choose has said it
	return s
}
