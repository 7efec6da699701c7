package device

import (
	"context"
	"encoding/json"
)

// HandOver gives what a disk did not take to the reserve, at the end of the process: by now it may take that, and then the
// next start knows what was carried out, and what it cannot know, see doubt. Rows that the disk does not take are lost, and the log
// says so. No command may be under way.
func (cs *Commands) HandOver() {
	commands, err := cs.handOver()
	switch {
	case err != nil:
		cs.o.Log.Error("cannot store which commands were carried out, the next start does not know them: see roomgate doctor", "commands", commands, "error", err)
	case commands > 0:
		cs.o.Log.Info("commands kept in memory are stored now", "commands", commands)
	}
}

// KeepOver does the same whenever there is more to give, until ctx ends: a process that is killed has no end of its own, and
// a disk whose sync failed once may take a file. Rows that a disk does not take wait for the next time.
func (cs *Commands) KeepOver(ctx context.Context) error {
	for {
		_, _ = cs.handOver()
		select {
		case <-ctx.Done():
			return nil
		case <-cs.kept.grown:
		}
	}
}

// handOver says how many records it gives. It holds nobody up who carries a command out.
func (cs *Commands) handOver() (records int, err error) {
	if !cs.o.DB.Condition().Stopped() {
		return 0, nil
	}
	all := cs.kept.records()
	if record := cs.doubtRecord(); record != nil {
		all = append(all, record)
	}
	if len(all) == 0 {
		return 0, nil
	}
	return len(all), cs.o.DB.Reserve().Replace(all)
}

// records are those of the reserve, of all that is kept.
func (l *kept) records() (all [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.order {
		raw, _ := json.Marshal(l.byID[id]) // it was one
		all = append(all, raw)
	}
	return all
}
