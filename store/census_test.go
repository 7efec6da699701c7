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
	if all[0].Name != "queue:log" || all[0].Rows != 5 || all[0].Bytes < 5*8 || all[1].Name != "table:numbers" || all[1].Rows != 1 {
		t.Errorf("%+v", all)
	}
}
