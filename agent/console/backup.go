package console

import (
	"strings"
	"time"
	"unicode"

	"roomgate/agent/backup"
	"roomgate/agent/problem"
)

// backups are where the building's admins take a sealed copy of everything away.
func backups() Section {
	return Section{Name: "backup", Title: "Backup", Hidden: true, Least: System, Parts: []string{"now", "new"}, View: viewBackups}
}

// supports are where they have something made for who helps from afar.
func supports() Section {
	return Section{Name: "support", Title: "Support bundle", Hidden: true, Least: System, Parts: []string{"now", "new"}, View: viewSupports}
}

// Made is what both pages show.
type Made struct {
	Making
	Waits string // until when, for people
	Last  string // of the last backup; empty: it is none, or another page
	New   *Form  // nil: it is under way
}

// making is how a file comes to be, and when to look again.
func (l *Look) making(file string) (v Made, until time.Time) {
	v.Making = l.makers[file].look()
	switch {
	case v.Running:
		until = time.Now().Add(walkLook)
	case v.Ready:
		until, v.Waits = v.Until, l.moment(v.Until)
	}
	return v, until
}

func viewBackups(l *Look) (any, time.Time, error) {
	v, until := l.making(FileBackup)
	if v.Running {
		return v, until, nil
	}
	v.New = &Form{ID: "backup-new", Title: "Make a backup", Send: "POST /console/made/" + FileBackup, Done: "It begins.", Button: "Make it",
		Note: "Database, device secret and configuration, sealed with a passphrase. Without the passphrase nobody opens it, not even who made it: keep it elsewhere.",
		Fields: []Input{{ID: "backup-word", Name: "passphrase", Label: "Passphrase", Type: "password", Hint: "At least 12 characters, four words for example.", Required: true, Max: maxPassphrase},
			{ID: "backup-again", Name: "again", Label: "The same again", Type: "password", Required: true, Max: maxPassphrase}}}
	n, known, err := backup.ReadNote(l.o.Errands.Folder)
	switch {
	case err != nil:
		v.Last = "The gateway cannot read when it made the last backup."
	case !known:
		v.Last = "No backup was ever taken away from this gateway."
	default:
		v.Last = "The last backup was taken away at " + l.moment(n.At) + ", " + bytesText(n.Size) + "."
	}
	return v, until, nil
}

func viewSupports(l *Look) (any, time.Time, error) {
	v, until := l.making(FileSupport)
	if !v.Running {
		v.New = &Form{ID: "support-new", Title: "Make a support bundle", Send: "POST /console/made/" + FileSupport, Done: "It begins.", Button: "Make it",
			Note: "What the doctor finds, the configuration, figures, the last events and lines of the journal, for somebody who helps from afar. There is no secret in it and no name of people, rooms or meetings, and no picture. Look into it before you hand it on."}
	}
	return v, until, nil
}

// maxPassphrase bounds a passphrase, in bytes, as that of the command does.
const maxPassphrase = 1024

// mayBackUp refuses a passphrase that is no good, and a disk that has no room.
func (c *Console) mayBackUp(passphrase, again string) error {
	switch {
	case len(passphrase) < backup.MinPassphrase || len(passphrase) > maxPassphrase:
		return problem.New(problem.Invalid, "passphrase", "is too short or too long: want %d to %d characters", backup.MinPassphrase, maxPassphrase)
	case strings.ContainsFunc(passphrase, unicode.IsControl):
		return problem.New(problem.Invalid, "passphrase", "has a line break or another character that nobody can type: leave it out")
	case passphrase != again:
		return problem.New(problem.Invalid, "again", "is not the same: type the passphrase twice")
	}
	s := c.o.Agent.Health.Report().StoreState
	return roomFor(s.DiskFreeBytes, s.StoreBytes)
}

// spare is the disk that a backup leaves to the database, in bytes.
const spare = 64 << 20

// roomFor refuses a backup for which the disk has no room: the database is copied, and what
// is sealed lies beside it.
func roomFor(free uint64, database int64) error {
	if need := 2*uint64(max(database, 0)) + spare; free < need {
		return problem.New(problem.Full, "", "a backup here needs %s of disk and %s are free: make it with roomgate backup onto a stick", bytesText(need), bytesText(free))
	}
	return nil
}
