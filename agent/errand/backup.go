package errand

import (
	"strings"
	"unicode"

	"roomgate/agent/backup"
	"roomgate/agent/problem"
	"roomgate/agent/web"
)

// MaxPassphrase bounds a passphrase, in bytes, as that of the command does.
const MaxPassphrase = 1024

// mayBackUp refuses a passphrase that is no good, and a disk that has no room.
func (e *Errands) mayBackUp(passphrase, again string) error {
	switch {
	case len(passphrase) < backup.MinPassphrase || len(passphrase) > MaxPassphrase:
		return problem.New(problem.Invalid, "passphrase", "is too short or too long: want %d to %d characters", backup.MinPassphrase, MaxPassphrase)
	case strings.ContainsFunc(passphrase, unicode.IsControl):
		return problem.New(problem.Invalid, "passphrase", "has a line break or another character that nobody can type: leave it out")
	case passphrase != again:
		return problem.New(problem.Invalid, "again", "is not the same: type the passphrase twice")
	}
	s := e.o.Health().Report().StoreState
	return checkFree(s.DiskFreeBytes, s.StoreBytes)
}

// spare is the disk that a backup leaves to the database, in bytes.
const spare = 64 << 20

// checkFree refuses a backup for which the disk has no room: the database is copied, and what
// is sealed lies beside it.
func checkFree(free uint64, database int64) error {
	if need := 2*uint64(max(database, 0)) + spare; free < need {
		return problem.New(problem.Full, "", "a backup here needs %s of disk and %s are free: make it with roomgate backup onto a stick", web.Bytes(need), web.Bytes(free))
	}
	return nil
}
