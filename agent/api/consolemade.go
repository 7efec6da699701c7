package api

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"roomgate/agent/errand"
	"roomgate/agent/strict"
)

// BackupTaken is the audit event of a backup that somebody takes away.
const BackupTaken = "backupDownloaded"

// madeEvents are the audit events of the files that the console has made: of the one that
// somebody has begun, and of the one that somebody takes away. Each is told before it is so.
var madeEvents = map[string]struct{ begun, taken string }{
	errand.FileBackup:  {"backupBegun", BackupTaken},
	errand.FileSupport: {"supportBundleBegun", "supportBundleDownloaded"},
}

// pieceTime is how long who takes a file away may take for the next piece of it.
const (
	pieceTime = time.Minute
	piece     = 256 << 10 // bytes
)

// consoleMake begins to make a backup or a support bundle.
func consoleMake(s *Server, c *call) error {
	if err := s.ownOrigin(c.r); err != nil {
		return err
	}
	var passphrase, again string
	if err := c.decodeAny(strict.Optional("passphrase", &passphrase), strict.Optional("again", &again)); err != nil {
		return err
	}
	file := c.params[0]
	if err := s.errands.Make(file, c.who.Principal, passphrase, again); err != nil {
		return err
	}
	if err := tellAudit(c, madeEvents[file].begun, nil); err != nil {
		_ = s.errands.Unmake(file) // it ends by itself with the session
		return err
	}
	return c.none()
}

// consoleUnmake stops what is being made, or discards it.
func consoleUnmake(s *Server, c *call) error {
	if err := s.errands.Unmake(c.params[0]); err != nil {
		return err
	}
	s.agent.Events.Grow() // for pages that show it
	return c.none()
}

// consoleMade hands a backup or a support bundle out.
func consoleMade(s *Server, c *call) error {
	file := c.params[0]
	from, size, err := s.errands.Made(file)
	if err != nil {
		return err
	}
	if c.r.Method == http.MethodGet {
		if err := tellAudit(c, madeEvents[file].taken, map[string]any{"bytes": size}); err != nil {
			return err
		}
	}
	h := c.w.Header()
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	h.Set("Content-Disposition", `attachment; filename="`+s.madeName(file)+`"`)
	c.begin(http.StatusOK, []string{"application/octet-stream"})
	out, rest := http.NewResponseController(c.w), io.NewSectionReader(from, 0, size)
	for c.r.Method == http.MethodGet {
		_ = out.SetWriteDeadline(time.Now().Add(pieceTime)) // without one it only has less time
		n, err := io.CopyN(c.w, rest, piece)
		if err == io.EOF && n < piece {
			break
		}
		if err != nil {
			return nil // who reads notices by the length
		}
	}
	if c.r.Method != http.MethodGet {
		return nil
	}
	defer s.agent.Events.Grow() // for pages that show when it was
	return s.errands.Taken(file, size)
}

// madeName is under what name a file is kept by who takes it away.
func (s *Server) madeName(file string) string {
	name := "roomgate-" + s.agent.Health.Identity().ID + "-" + s.agent.Now().UTC().Format("2006-01-02-1504")
	if file == errand.FileBackup {
		return name + ".backup"
	}
	return name + "-support.tar.gz"
}
