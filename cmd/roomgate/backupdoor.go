package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/api"
	"roomgate/agent/backup"
	"roomgate/agent/problem"

	"roomgate/cmd/roomgate/show"
	"roomgate/store"
	"roomgate/store/disk"
)

// backupPatience is how long the one who asked for a backup may take for the
// next piece of it.
const backupPatience = time.Minute

// backupDoors are what the control socket has for backups. Nothing of it is on
// the network: a backup holds every secret of the building.
func (g *gateway) backupDoors() map[string]http.Handler {
	return map[string]http.Handler{
		"GET /backup":       http.HandlerFunc(g.giveBackup),
		"POST /backup/note": http.HandlerFunc(g.noteBackup),
		"GET /support":      http.HandlerFunc(g.giveSupport),
	}
}

// giveBackup sends a backup that is not sealed. One that fails after it began
// is cut off, which anybody who reads it notices.
func (g *gateway) giveBackup(w http.ResponseWriter, r *http.Request) {
	c, err := g.configuration()
	if err != nil {
		answerProblem(w, "the configuration cannot be read: "+err.Error())
		return
	}
	err = g.agent.Health.NoteGateway(r.Context(), api.BackupTaken, map[string]any{"by": "control", "by_id": "control", "by_kind": access.KindSystem})
	switch {
	case store.Unstored(err): // a disk that fails is when a backup is wanted most
		g.log.Error("cannot note who takes a backup: see roomgate doctor", "error", err)
	case err != nil:
		answerProblem(w, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/x-tar")
	out := &patient{w: w, control: http.NewResponseController(w)}
	switch err := g.agent.Backup(r.Context(), out, c, out.tell(show.ProgressEvery)); {
	case err != nil && out.begun:
		g.log.Warn("a backup was broken off", "error", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		answerProblem(w, err.Error())
	}
}

// patient gives each piece of a long answer its own time.
type patient struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

func (p *patient) extend() { _ = p.control.SetWriteDeadline(time.Now().Add(backupPatience)) }

// Write sends a piece.
func (p *patient) Write(b []byte) (int, error) {
	p.begun = true
	p.extend()
	return p.w.Write(b)
}

// noteBackup takes the word of the one who has stored a backup.
func (g *gateway) noteBackup(w http.ResponseWriter, r *http.Request) {
	var n backup.Note
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&n); err != nil {
		answerProblem(w, "the note of a backup cannot be read: "+err.Error())
		return
	}
	n.At = time.Now().UTC().Truncate(time.Second)
	if err := backup.WriteNote(g.config.Data, n); err != nil {
		answerProblem(w, err.Error())
		return
	}
	g.log.Info("a backup was made", "bytes", n.Size)
	w.WriteHeader(http.StatusNoContent)
}

// answerProblem answers what went wrong.
func answerProblem(w http.ResponseWriter, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusInternalServerError)
	_ = json.NewEncoder(w).Encode(map[string]string{"title": "Internal error", "detail": detail, "code": string(problem.Internal)})
}

// mend finishes or clears a restore that was interrupted. The directory is
// ours.
func (g *gateway) mend() error {
	if err := os.MkdirAll(g.config.Data, 0o700); err != nil {
		return err
	}
	done, err := backup.Recover(g.config.Data)
	if disk.Blamed(err) {
		g.log.Error("cannot tell whether a restore was interrupted: see roomgate doctor", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	if done {
		g.log.Warn("a restore that was interrupted is finished now", "before", filepath.Join(g.config.Data, backup.BeforeName))
	}
	return nil
}
