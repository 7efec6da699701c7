package store

import "testing"

func TestCensus(t *testing.T) {
	db := start(t, tempPath(t), Options{})
	push(t, db, log, 5)
	update(t, db, func(tx *Tx) error { return NewTable[int]("numbers").Put(tx, "one", 1) })
	all, err := db.Census()
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if log := all[0]; log.Name != "queue:log" || log.Rows != 5 || log.Bytes < 5*8 {
		t.Errorf("%+v", log)
	}
	if numbers := all[1]; numbers.Name != "table:numbers" || numbers.Rows != 1 {
		t.Errorf("%+v", numbers)
	}
}
