package health

import "time"

// Trouble is what the link to the cloud suffers from, or has a moment ago.
type Trouble struct {
	Cause string    `json:"cause"` // for machines, as may_not_write
	Seen  string    `json:"seen"`  // for people
	Fix   string    `json:"fix"`   // what to do about it
	Error string    `json:"error"` // as the far end, or the network, said it
	At    time.Time `json:"at"`    // when it was last met
	Times int       `json:"times"` // how often in a row
	Since time.Time `json:"since"` // when the row began; a connection shorter than a minute does not end it
}

// OrNil is nil for one without a cause: there is none.
func (t Trouble) OrNil() *Trouble {
	if t.Cause == "" {
		return nil
	}
	return &t
}

// Certificate is how that is which the gateway gets from its cloud.
type Certificate struct {
	State string    `json:"state"`          // for machines, as good or revoked
	From  time.Time `json:"from,omitzero"`  // when it begins; absent: there is none yet
	Until time.Time `json:"until,omitzero"` // when it ends
	Seen  string    `json:"seen"`           // for people
	Fix   string    `json:"fix,omitempty"`  // what to do about it
}
