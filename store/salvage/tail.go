package salvage

import (
	"errors"
	"slices"

	"roomgate/store/layout"
)

// foldTails gives the rows of tails to their queues. Afterwards there are no tails.
func (m *merge) foldTails() error {
	for _, tail := range m.names() {
		name := layout.QueueOf(tail)
		rows := m.tx.Bucket([]byte(tail))
		if !layout.IsTail(tail) || rows == nil {
			continue
		}
		main, err := m.tx.CreateBucketIfNotExists([]byte(name))
		if err != nil {
			return err
		}
		for _, r := range layout.TailRows([]byte(tail), main, rows) {
			if r.Missing {
				err = errors.Join(err, main.Put(r.Key, r.Value))
			}
		}
		if err = errors.Join(err, m.tx.DeleteBucket([]byte(tail))); err != nil {
			return err
		}
	}
	return nil
}

// withTails counts what was found of tails to their queues, where the rows are now.
func withTails(all []TableRepair) []TableRepair {
	var queues, tails []TableRepair
	for _, t := range all {
		if layout.IsTail(t.Name) {
			t.Name = layout.QueueOf(t.Name)
			tails = append(tails, t)
		} else {
			queues = append(queues, t)
		}
	}
	for _, t := range tails {
		i := slices.IndexFunc(queues, func(q TableRepair) bool { return q.Name == t.Name })
		if i < 0 {
			queues = append(queues, t)
			continue
		}
		name := t.Name
		queues[i] = Repair{Tables: []TableRepair{queues[i], t}}.Sum()
		queues[i].Name = name
	}
	return queues
}
