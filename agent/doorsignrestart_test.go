package agent

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	rules "roomgate/agent/rule"
	"roomgate/cloud"
	"roomgate/store"
	"roomgate/store/storetest"
)

// again ends a building and starts it on what it has stored. After a power cut that is what the disk has now, and the end
// adds nothing to it; change edits it meanwhile.
func (r *rig) again(powerCut bool, change func(t *testing.T, dir string)) *rig {
	r.t.Helper()
	t, dir := r.t.(*testing.T), r.options.DataDir
	if powerCut {
		dir = t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(r.options.DataDir)); err != nil {
			t.Fatal(err)
		}
	}
	r.stop()
	if change != nil {
		change(t, dir)
	}
	next := &rig{Agent: reopen(t, r, dir), t: t, bench: r.bench}
	next.run()
	next.wait(5 * time.Second)
	return next
}

// reopen opens the building of r from another folder.
func reopen(t *testing.T, r *rig, dir string) *Agent {
	t.Helper()
	o := r.options
	o.DataDir = dir
	a, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestARestartForgetsNoMark: what an unsigned command has moved, or will move, is in doubt also after a restart, which the
// cloud can bring about, and after a power cut, until somebody in the building moves it.
func TestARestartForgetsNoMark(t *testing.T) {
	timed := byTime(room)
	for what, c := range map[string]struct {
		rule    rules.Rule
		happens func(r *rig)
		late    func(r *rig)
	}{
		"it is on": {timed, func(r *rig) { r.down("command", "m1", litUnsigned, time.Now()) }, func(*rig) {}},
		"it goes on later": {byLight("on"), func(r *rig) {
			r.bench["light-1"].set("ignore")
			r.down("command", "m1", litUnsigned, time.Now())
		}, func(r *rig) { r.bench["light-1"].show("", "on") }},
		"by a rule that nobody signed": {timed, func(r *rig) {
			r.down("config", "m1", `{"revision":1,"rules":[{"id":"forged","name":"forged","meeting_space_id":"`+room+`","trigger":{"time":"* * * * *"},`+
				`"actions":[{"device_type":"light","action":"on"}]}]}`, time.Now())
			r.wait(2 * time.Minute)
			r.down("config", "m2", `{"revision":2,"rules":[]}`, time.Now())
		}, func(*rig) {}},
	} {
		for unsigned, want := range refusing {
			for _, cut := range []bool{false, true} {
				t.Run(what+" "+unsigned, func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						r, last := startRuled(t, unsigned, c.rule)
						c.happens(r)
						r.wait(3 * time.Second)
						before := r.opened()
						r = r.again(cut, nil)
						r.bench["light-1"].set("")
						r.wait(3 * time.Minute)
						c.late(r)
						r.wait(5 * time.Minute)
						if got := r.opened() - before; got > 0 != (want > 0) {
							runs, _ := r.Rules.Runs(last)
							t.Fatalf("power cut %v: opened %d times after the start: %+v", cut, got, runs)
						}
						if want == 0 {
							r.wantVouched(last)
						}
					})
				})
			}
		}
	}
}

// wantVouched wants that somebody in the building ends the doubt about the light, and that a power cut leaves it so.
func (r *rig) wantVouched(rule string) {
	r.t.Helper()
	for _, action := range []string{"off", "on"} {
		if _, err := r.switchLight(room, action); err != nil {
			r.t.Fatal(err)
		}
		r.wait(3 * time.Minute)
	}
	for run := range 2 {
		before := r.opened()
		if run > 0 {
			r = r.again(true, nil)
		}
		r.wait(time.Minute)
		if _, err := r.switchLight(room, "off"); err != nil {
			r.t.Fatal(err)
		}
		r.wait(3 * time.Minute)
		r.bench["light-1"].show("", "on")
		r.wait(5 * time.Minute)
		if r.opened() == before {
			runs, _ := r.Rules.Runs(rule)
			r.t.Errorf("run %d: not opened by what the building has done: %+v", run, runs)
		}
	}
}

// TestARestartPutsNothingInDoubt: what the building alone has moved opens a door after a power cut as before, and so does what
// somebody at the device has moved since the word of the cloud.
func TestARestartPutsNothingInDoubt(t *testing.T) {
	for what, happens := range map[string]func(r *rig){
		"over HTTP": func(r *rig) { _, _ = r.switchLight(room, "on") },
		"at the device": func(r *rig) {
			r.down("command", "m1", litUnsigned, time.Now())
			for _, value := range []string{"off", "on", "off", "on"} {
				r.wait(time.Minute)
				r.bench["light-1"].show("", value)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, last := startRuled(t, "refuse", byTime(room))
				happens(r)
				r.wait(5 * time.Second)
				before := r.opened()
				r = r.again(true, nil)
				r.wait(5 * time.Minute)
				if r.opened() == before {
					runs, _ := r.Rules.Runs(last)
					t.Errorf("not opened after the start: %+v", runs)
				}
			})
		})
	}
}

// TestMarksThatNobodyKnows: where an earlier run may have had marks that are not stored, all is in doubt that the cloud could
// have moved.
func TestMarksThatNobodyKnows(t *testing.T) {
	for what, change := range map[string]func(t *testing.T, dir string){
		"a version that stored none": func(t *testing.T, dir string) {
			db, _, err := store.Open(t.Context(), filepath.Join(dir, Database), store.Options{Schema: Schema})
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(t.Context(), func(tx *store.Tx) error { return store.NewTable[string]("doubted-devices").Delete(tx, "kept") })
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		},
		"a backup": func(t *testing.T, dir string) {
			if _, err := Rekey(t.Context(), dir, NewLife{}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, last := startRuled(t, "refuse", byTime(room))
				if _, err := r.switchLight(room, "on"); err != nil {
					t.Fatal(err)
				}
				r.wait(5 * time.Second)
				before := r.opened()
				for range 2 { // it stays
					r = r.again(false, change)
					change = nil
					r.wait(5 * time.Minute)
					if got := r.opened() - before; got != 0 {
						t.Fatalf("opened %d times", got)
					}
				}
				r.wantVouched(last)
			})
		})
	}
}

// TestAMarkIsStoredBeforeItsDeviceMoves: the power goes while an unsigned command waits, and the device moves all the same.
func TestAMarkIsStoredBeforeItsDeviceMoves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, b := t.TempDir(), newBench()
		r := openRig(t, rigOptions{yaml: withDoor, dir: dir, bench: b, dial: noCloud}) // nobody moves the light
		r.hold(publicKey("cloud"))
		one := byLight("on")
		one.Enabled, one.AllowDoor = true, true
		made, err := r.Rules.Create(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		r.down("command", "m1", litUnsigned, time.Now())
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = startRig(t, rigOptions{yaml: withDoor, dir: dir, bench: b, dial: noCloud})
		r.wait(5 * time.Minute)
		r.bench["light-1"].show("", "on")
		r.wait(10 * time.Second)
		r.wantOpened(made.ID, 0)
		r.stop()
	})
}

// TestMarksOfADiskThatTookNothing: a light that an unsigned command has moved, of which the disk knows only by the reserve, is in
// doubt after the next start.
func TestMarksOfADiskThatTookNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, last := startRuled(t, "refuse", byTime(room))
		mend := storetest.Break(t, filepath.Join(r.options.DataDir, Database))
		r.wait(time.Minute)
		err := r.Cloud.Receive(t.Context(), cloud.Message{Topic: r.topics().Down("command"), Payload: lightCommand("m1"), QoS: 1})
		r.wait(time.Second)
		if got := r.bench["light-1"].effects(); !errors.Is(err, cloud.ErrUnacknowledged) || len(got) != 1 {
			t.Fatalf("%v, the light did %q", err, got)
		}
		mend()
		for range 2 { // also once the reserve is empty
			r = r.again(false, nil)
			r.wait(5 * time.Minute)
			r.wantOpened(last, 0)
		}
		r.wantVouched(last)
	})
}
