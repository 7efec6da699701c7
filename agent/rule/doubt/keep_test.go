package doubt

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/drivers"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is marks on a real store, in a room with a light and a hub.
type rig struct {
	*testing.T
	*Marks
	db       *store.DB
	schedule bool // an unsigned word is in the schedule of the room
	unsure   bool // the disk did not take all of the run before
}

// inTime runs a test on a rig in virtual time, with what the table has before.
func inTime(t *testing.T, before map[string]string, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t}
		var err error
		if r.db, _, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), store.Options{Schema: 1}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.db.Close() })
		for key, value := range before {
			r.update(func(tx *store.Tx) error { return rows.Put(tx, key, value) })
		}
		r.open()
		test(r)
	})
}

// open opens the marks, again if they are open.
func (r *rig) open() {
	r.Helper()
	var err error
	r.Marks, err = Open(r.Context(), Options{DB: r.db, Unsure: func() bool { return r.unsure }, Schedule: func(string) bool { return r.schedule },
		Devices: func() []*device.Device {
			return []*device.Device{{Device: config.Device{Type: drivers.TypeLight}, SpaceID: room}, {Device: config.Device{Type: drivers.TypeO3}, SpaceID: room}}
		}})
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) update(change func(*store.Tx) error) {
	r.Helper()
	if err := r.db.Update(r.Context(), change); err != nil {
		r.Fatal(err)
	}
}

// stored hears of a command as devices tell of it.
func (r *rig) stored(c device.Command, over bool) {
	r.Helper()
	r.update(func(tx *store.Tx) error { return r.Stored(tx, c, over) })
}

// save stores the marks and returns the rows but for kept, and whether that says that they are all.
func (r *rig) save() (all map[string]string, complete bool) {
	r.Helper()
	err := r.Save(r.Context())
	err = errors.Join(err, r.db.View(func(tx *store.Tx) error { all = maps.Collect(rows.All(tx)); return tx.Err() }))
	if err != nil {
		r.Fatal(err)
	}
	complete = all[kept] == allKept
	delete(all, kept)
	return all, complete
}

// wantRows stores the marks and compares.
func (r *rig) wantRows(when string, want map[string]string) {
	r.Helper()
	if got, complete := r.save(); !maps.Equal(got, want) || !complete {
		r.Errorf("%s the rows are %q, all of them: %v, want %q", when, got, complete, want)
	}
}

func lit(via string) device.Command {
	return device.Command{ID: via, Space: room, DeviceType: drivers.TypeLight, Action: "on", Via: via}
}

// TestRowsOfAnEarlierVersion: a start finds the marks as every version has stored them.
func TestRowsOfAnEarlierVersion(t *testing.T) {
	before := map[string]string{kept: allKept, "aurora-1/light/": "whole", "aurora-1/o3-sensor/ring-light": "part", "a/b/fan/": "part"}
	inTime(t, before, func(r *rig) {
		for p, want := range map[Part]bool{
			light:                                   true,
			{room, drivers.TypeO3, drivers.SubRing}: true,
			{room, drivers.TypeO3, drivers.SubBuzzer}:     false,
			{"a/b", drivers.TypeFan, ""}:                  true,
			{"borealis-1", drivers.TypeLight, ""}:         false,
			{room, drivers.TypeLight, drivers.SubBuzzer}:  false,
			{"a", "b/" + drivers.TypeFan, ""}:             false,
			{room + "/" + drivers.TypeLight, "", "light"}: false,
		} {
			if got := r.Moved(p, time.Now()); got != want {
				t.Errorf("%+v is in doubt: %v", p, got)
			}
		}
		if r.Lost() || !r.Caused(Part{room, drivers.TypeLight, "lamp"}, time.Now()) || r.Caused(Part{room, drivers.TypeO3, drivers.SubBuzzer}, time.Now()) {
			t.Error("what is whole and what is part is not known any more")
		}
		delete(before, kept)
		r.wantRows("without a change", before)
	})
}

// TestAMarkFromCommandToCommand: an unsigned command is stored before its device moves, and one of the building ends that.
func TestAMarkFromCommandToCommand(t *testing.T) {
	for what, end := range map[string]func(r *rig){
		"a command of the building": func(r *rig) {
			r.Starting(lit(device.ViaHTTP))
			r.Done(lit(device.ViaHTTP), time.Now())
		},
		"somebody at the device": func(r *rig) {
			for range strangeChanges {
				time.Sleep(time.Minute)
				r.Changed(light, time.Now())
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			inTime(t, nil, func(r *rig) {
				r.wantRows("at first", map[string]string{})
				r.stored(lit(device.ViaMQTT), false)
				r.open()
				r.wantRows("after a power cut", map[string]string{"aurora-1/light/": "whole"})
				r.Starting(lit(device.ViaMQTT))
				r.Done(lit(device.ViaMQTT), time.Now())
				r.stored(lit(device.ViaMQTT), true)
				time.Sleep(time.Hour)
				r.wantRows("when it was carried out", map[string]string{"aurora-1/light/": "whole"})
				end(r)
				time.Sleep(time.Second)
				r.wantRows("in the end", map[string]string{})
				if r.Moved(light, time.Now()) {
					t.Error("it is in doubt still")
				}
			})
		})
	}
}

// TestWhichCommandsAreInDoubt: those that no signature and nobody in the building vouches for.
func TestWhichCommandsAreInDoubt(t *testing.T) {
	signed, late, byDoubt := lit(device.ViaMQTT), lit(device.ViaMQTT), lit(device.ViaRule)
	signed.Count, late.Count, late.Doubted, byDoubt.Doubted = &device.Count{}, &device.Count{}, true, true
	for what, c := range map[string]struct {
		command  device.Command
		schedule bool
		want     string // how its mark is stored; empty: it has none
	}{
		"over HTTP":                   {lit(device.ViaHTTP), true, ""},
		"unsigned":                    {lit(device.ViaMQTT), false, "whole"},
		"signed":                      {signed, true, ""},
		"signed, and held back":       {late, false, "whole"},
		"of a rule":                   {lit(device.ViaRule), true, ""},
		"of a rule, by such a word":   {byDoubt, false, "whole"},
		"of the schedule":             {lit(device.ViaSchedule), false, ""},
		"of a schedule in doubt":      {lit(device.ViaSchedule), true, "part"},
		"of a keypad in the meantime": {lit(device.ViaKeypad), true, ""},
	} {
		t.Run(what, func(t *testing.T) {
			inTime(t, nil, func(r *rig) {
				r.schedule = c.schedule
				r.stored(c.command, false)
				got, _ := r.save()
				if got["aurora-1/light/"] != c.want || r.Moved(light, time.Now()) != (c.want != "") {
					t.Errorf("%q, in doubt: %v", got, r.Moved(light, time.Now()))
				}
			})
		})
	}
}

// TestMarksThatNobodyKnows: where an earlier run may have had marks that are not stored, every part that takes commands gets one.
func TestMarksThatNobodyKnows(t *testing.T) {
	marked := map[string]string{"aurora-1/light/": "whole", "aurora-1/o3-sensor/": "whole", "aurora-1/o3-sensor/buzzer": "whole", "aurora-1/o3-sensor/ring-light": "whole"}
	none := map[string]string{}
	for what, c := range map[string]struct {
		before map[string]string
		change func(r *rig)
		want   map[string]string
	}{
		"all are known":         {map[string]string{kept: allKept}, func(*rig) {}, none},
		"a new gateway":         {none, func(*rig) {}, none},
		"a version without any": {none, func(r *rig) { r.update(remembers) }, marked},
		"a backup":              {map[string]string{kept: allKept}, func(r *rig) { r.update(All) }, marked},
		"a disk that failed":    {map[string]string{kept: allKept}, func(r *rig) { r.unsure = true }, marked},
		"a repair":              {map[string]string{kept: allKept}, func(r *rig) { r.update(headless) }, marked},
	} {
		t.Run(what, func(t *testing.T) {
			inTime(t, c.before, func(r *rig) {
				c.change(r)
				r.open()
				if lost := len(c.want) > 0; r.Lost() != lost || r.Moved(Part{"anywhere", drivers.TypeLight, ""}, time.Now()) != lost {
					t.Errorf("lost: %v", r.Lost())
				}
				r.MarkUnknown()
				if r.Lost() {
					t.Error("they are lost still")
				}
				r.wantRows("then", c.want)
			})
		})
	}
}

// remembers leaves a command of an earlier run.
func remembers(tx *store.Tx) error {
	return store.NewTable[device.Stored]("commands").Put(tx, "c1", device.Stored{Command: lit(device.ViaHTTP)})
}

// headless is a repair that does not know of any table whether it is whole.
func headless(tx *store.Tx) error { return Mend(tx, store.Repair{Headless: true}) }
