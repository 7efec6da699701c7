package mail

import (
	"roomgate/store"
)

const (
	// maxDecoys bounds the letters that nobody gets. They take no place of a letter that somebody waits for.
	maxDecoys = 300
	// decoysAtOnce is how many of the oldest go in one transaction where there are as many: whoever comes next has
	// room, whether he is known or not.
	decoysAtOnce = 50
)

// decoy names a letter that nobody gets. Nothing that is stored in the clear tells it from others.
type decoy struct{ place, id string }

// full says whether n more letters are too many for those that somebody waits for. Decoys of an earlier run count until
// the queue has looked at them.
func (q *Queue) full(tx *store.Tx, n int) bool {
	all := mails.Len(tx) + n
	return all > MaxLetters && all-len(q.waitingDecoys(tx)) > MaxLetters
}

// waitingDecoys are the decoys that are still there, the oldest first.
func (q *Queue) waitingDecoys(tx *store.Tx) []decoy {
	there := make([]decoy, 0, len(q.decoys))
	for _, d := range q.decoys {
		if m, err := mails.Get(tx, d.place); err == nil && m.ID == d.id {
			there = append(there, d)
		}
	}
	q.decoys = there
	return there
}

// dropDecoys drops the oldest decoys once there are too many. It asks not who makes it do so, so that it takes
// everybody as long. They are forgotten when they are seen to be gone: this transaction may yet fail.
func (q *Queue) dropDecoys(tx *store.Tx) error {
	if len(q.decoys) < maxDecoys {
		return nil
	}
	all := q.waitingDecoys(tx)
	if len(all) < maxDecoys {
		return nil
	}
	for _, d := range all[:decoysAtOnce] {
		if err := mails.Delete(tx, d.place); err != nil {
			return err
		}
	}
	return nil
}
