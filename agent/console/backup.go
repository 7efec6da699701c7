package console

import (
	"time"

	"roomgate/agent/errand"
	"roomgate/agent/web"
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
	errand.Making
	Waits string // until when, for people
	Last  string // of the last backup; empty: it is none, or another page
	New   *Form  // nil: it is under way
}

// making is how a file comes to be, and when to look again.
func (l *Look) making(file string) (v Made, until time.Time) {
	v.Making = l.o.Errands.Making(file)
	v.Wrong = sentence(v.Wrong)
	switch {
	case v.Running:
		until = time.Now().Add(walkLook)
	case v.Ready:
		until, v.Waits = v.Until, l.moment(v.Until)
	}
	return v, until
}

func viewBackups(l *Look) (any, time.Time, error) {
	v, until := l.making(errand.FileBackup)
	if v.Running {
		return v, until, nil
	}
	v.New = &Form{ID: "backup-new", Title: "Make a backup", Send: "POST /console/made/" + errand.FileBackup, Done: "It is being made.", Button: "Make it",
		Note: "Database, device secret and configuration, sealed with a passphrase. Without the passphrase nobody opens it, not even who made it: keep it elsewhere.",
		Fields: []Input{{ID: "backup-word", Name: "passphrase", Label: "Passphrase", Type: "password", Hint: "At least 12 characters, four words for example.", Required: true, Max: errand.MaxPassphrase},
			{ID: "backup-again", Name: "again", Label: "The same again", Type: "password", Required: true, Max: errand.MaxPassphrase}}}
	n, known, err := l.o.Errands.LastBackup()
	switch {
	case err != nil:
		v.Last = "The gateway cannot read when it made the last backup."
	case !known:
		v.Last = "No backup was ever taken away from this gateway."
	default:
		v.Last = "The last backup was taken away at " + l.moment(n.At) + ", " + web.Bytes(n.Size) + "."
	}
	return v, until, nil
}

func viewSupports(l *Look) (any, time.Time, error) {
	v, until := l.making(errand.FileSupport)
	if !v.Running {
		v.New = &Form{ID: "support-new", Title: "Make a support bundle", Send: "POST /console/made/" + errand.FileSupport, Done: "It is being made.", Button: "Make it",
			Note: "What the doctor finds, the configuration, figures, the last events and lines of the journal, for somebody who helps from afar. There is no secret in it and no name of people, rooms or meetings, and no picture. Look into it before you hand it on."}
	}
	return v, until, nil
}
