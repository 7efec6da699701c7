package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/update"
)

// bundleTime bounds how long a bundle may take to come and to be unpacked.
const bundleTime = 10 * time.Minute

// The audit events of updates that somebody at the console wants, told before anything of
// it is done: what comes of it has events of its own.
const (
	updateBrought = "updateBrought"
	updateHurried = "updateHurried"
)

// consoleUpdate takes a bundle that somebody at the console has brought, or has the release
// that waits tried at once.
func consoleUpdate(s *Server, c *call) error {
	if err := s.ownOrigin(c.r); err != nil {
		return err
	}
	action := c.params[0]
	if action != "bundle" {
		if err := c.decodeAny(); err != nil {
			return err
		}
	}
	u, err := s.errands.Updates()
	if err != nil {
		return err
	}
	switch action {
	case "bundle":
		return takeBundle(c, u)
	case "now":
		next := u.Status().Next
		if next == "" {
			return problem.New(problem.NotNow, "", "no release waits for its trial: bring a bundle")
		}
		return hurried(c, u, next)
	}
	return problem.New(problem.NotFound, "action", "is not known: want bundle or now")
}

// hurried has a release tried at once, after the answer: the gateway ends for it.
func hurried(c *call, u *update.Runner, version string) error {
	if err := tellAudit(c, updateHurried, map[string]any{"version": version}); err != nil {
		return err
	}
	defer u.Look(true)
	return c.json(http.StatusOK, consoleRelease{version})
}

// consoleRelease is what is answered of a release that is installed.
type consoleRelease struct {
	Version string `json:"version"`
}

func takeBundle(c *call, u *update.Runner) error {
	q, err := c.query("now", "again")
	if err != nil {
		return err
	}
	if _, err := c.checkType([]string{"application/octet-stream"}); err != nil {
		return err
	}
	if c.r.ContentLength > update.MaxBundle {
		return c.tooLarge(update.MaxBundle)
	}
	if err := tellAudit(c, updateBrought, nil); err != nil {
		return err
	}
	late := time.Now().Add(bundleTime)
	rc := http.NewResponseController(c.w)
	_ = rc.SetReadDeadline(late) // without one it only has less time
	_ = rc.SetWriteDeadline(late)
	ctx, cancel := context.WithDeadline(c.r.Context(), late)
	defer cancel()
	one, err := u.Take(ctx, upload{c, http.MaxBytesReader(c.w, c.r.Body, update.MaxBundle)}, q.text("again") == "true")
	if err != nil {
		c.w.Header().Set("Connection", "close") // instead of reading on
		return bundleProblem(err)
	}
	if q.text("now") == "true" {
		return hurried(c, u, one.Version)
	}
	defer u.Look(false)
	return c.json(http.StatusOK, consoleRelease{one.Version})
}

// upload is a body that takes long: who sends it is asked again now and then, and at its end.
type upload struct {
	c *call
	io.Reader
}

// uploadLook is how often that is.
const uploadLook = time.Second

// Read refuses what comes of somebody who may not any more.
func (u upload) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err == nil && time.Since(u.c.askedAt) < uploadLook {
		return n, nil
	}
	if refusal := u.c.again(); refusal != nil {
		return 0, refusal
	}
	return n, err
}

// bundleProblem is why a bundle was not taken.
func bundleProblem(err error) error {
	refused := (*update.Refused)(nil)
	if !errors.As(err, &refused) {
		return err
	}
	code := problem.Invalid
	switch refused.Cause {
	case update.Busy:
		code = problem.NotNow
	case update.DiskFull:
		code = problem.Full
	}
	return problem.New(code, "", "%s", refused.Reason)
}
