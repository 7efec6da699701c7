package device

import (
	"encoding/json"
	"time"

	"roomgate/agent/problem"
)

// doubt is the record in the reserve that says what nobody knows: a process whose disk took nothing from its start on
// could not read what one before it had carried out in memory. It refused what was sent before its start, see mayTrust,
// and with this record the next ones do so too, on a disk that takes writes again.
type doubt struct {
	Before time.Time `json:"doubtful_before"` // the start of that process, by its clock
}

// doubtOf reads such a record; ok is false if the record is a command.
func doubtOf(raw []byte) (d doubt, ok bool) {
	err := json.Unmarshal(raw, &d)
	return d, err == nil && !d.Before.IsZero()
}

// doubtRecord is that of this process, or of one before it whose commands may still come again; nil: there is no doubt.
func (cs *Commands) doubtRecord() []byte {
	d := cs.doubt
	if cs.o.DB.Stats().Commits == 0 {
		d.Before = cs.start(time.Now()).Add(skew)
	}
	if time.Since(d.Before) > commandMemory {
		return nil
	}
	raw, _ := json.Marshal(d) // it can be
	return raw
}

// start is when the process began, by the clock as it is now.
func (cs *Commands) start(now time.Time) time.Time { return now.Add(-now.Sub(cs.began)) }

// forgot refuses a command of the cloud whose receipt may be lost.
func (cs *Commands) forgot(c Command) error {
	switch {
	case c.Via != ViaMQTT || c.SentAt.IsZero():
		return nil
	case c.SentAt.Before(cs.forgotten):
		return problem.New(problem.Conflict, "id", "was sent before the database was repaired and may have been carried out: send it again with a new id")
	case c.SentAt.Before(cs.doubt.Before) && c.SentAt.Before(cs.start(time.Now()).Add(skew)): // that of then may have been ahead
		return problem.New(problem.Conflict, "id", "was sent before the gateway started on a disk that took nothing, so it may have been carried out: send it again with a new id")
	}
	return nil
}
