package unlock

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/problem"
	"roomgate/drivers"
)

// manage sets the codes of one who has named mine before.
func (r *rig) manage(mine []string, want ...CodeSpec) (ids []string, err error) {
	r.t.Helper()
	s, ids, err := r.Stage(want, mine, []Door{r.door()}, "cloud")
	if err != nil {
		return nil, err
	}
	return ids, r.log.Commit(r.t.Context(), s)
}

func spec(name string, code drivers.Secret) CodeSpec {
	return CodeSpec{SpaceID: aurora, Name: name, Code: code}
}

// What one manages comes, changes and goes at once, and what the building has
// made stays.
func TestManagedCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		own := r.code(Request{Name: "own", Code: "111111"})
		mine, err := r.manage(nil, spec("a", "222222"), spec("b", "333333"))
		if err != nil || len(mine) != 2 || !strings.HasPrefix(mine[0], aurora+"/") {
			t.Fatalf("%q, %v", mine, err)
		}
		r.opens("222222")
		again, err := r.manage(mine, spec("A", "444444"))
		if err != nil || !slices.Equal(again, mine[:1]) {
			t.Errorf("the same name has another id: %q, %v", again, err)
		}
		r.restart()
		r.refused("222222", "no such code")
		r.refused("333333", "no such code")
		r.opens("444444")
		if ids, err := r.manage(again); err != nil || len(ids) != 0 {
			t.Errorf("%q, %v", ids, err)
		}
		r.refused("444444", "no such code")
		r.opens("111111")
		if all, err := r.List(aurora); err != nil || len(all) != 1 || all[0].ID != own.ID {
			t.Errorf("there are %+v, %v", all, err)
		}
		types, text := r.events()
		types = slices.DeleteFunc(types, func(kind string) bool { return !strings.HasPrefix(kind, "unlockCode") })
		if want := strings.Fields("unlockCodeCreated unlockCodeCreated unlockCodeCreated unlockCodeUpdated unlockCodeDeleted unlockCodeDeleted"); !slices.Equal(types, want) ||
			strings.Count(text, `"by":"cloud"`) != 5 {
			t.Errorf("logged %q: %s", types, text)
		}
	})
}

// A refusal names the item, changes nothing, and holds nobody up.
func TestManagedCodesThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.code(Request{Name: "own", Code: "111111"})
		mine, err := r.manage(nil, spec("a", "222222"))
		if err != nil {
			t.Fatal(err)
		}
		many := make([]CodeSpec, 11) // of four digits
		for i := range many {
			many[i] = spec(string(rune('b'+i)), drivers.Secret("400"+string(rune('0'+i%10))))
		}
		many[10].Code = "5000"
		for name, c := range map[string]struct {
			want  []CodeSpec
			code  problem.Code
			field string
		}{
			"another space":   {[]CodeSpec{spec("b", "333333"), {SpaceID: borealis, Name: "c", Code: "444444"}}, problem.NotFound, "[1].meeting_space_id"},
			"no digits":       {[]CodeSpec{spec("b", "")}, problem.Invalid, "[0].code"},
			"letters":         {[]CodeSpec{spec("b", "33333x")}, problem.Invalid, "[0].code"},
			"over":            {[]CodeSpec{{SpaceID: aurora, Name: "b", Code: "333333", Until: time.Now().Add(-time.Hour)}}, problem.Invalid, "[0].valid_until"},
			"the building's":  {[]CodeSpec{spec("Own", "333333")}, problem.Conflict, "[0].name"},
			"taken":           {[]CodeSpec{spec("b", "111111")}, problem.Conflict, "[0].code"},
			"a name twice":    {[]CodeSpec{spec("b", "333333"), spec("B", "444444")}, problem.Conflict, "[1].name"},
			"easily guessed":  {many, problem.Invalid, ""},
			"a foreign space": {[]CodeSpec{{SpaceID: "x", Name: "b", Code: "333333"}}, problem.NotFound, "[0].meeting_space_id"},
		} {
			if _, err := r.manage(mine, c.want...); err == nil || problem.As(err).Code != c.code || problem.As(err).Field != c.field {
				t.Errorf("%s: %v, want %s of %q", name, err, c.code, c.field)
			}
		}
		r.opens("222222")
	})
}

// What is staged and not committed opens nothing, and until it is released nobody
// else changes a code.
func TestStageHoldsTheCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		s, _, err := r.Stage([]CodeSpec{spec("a", "222222")}, nil, []Door{r.door()}, "cloud")
		if err != nil {
			t.Fatal(err)
		}
		r.refused("222222", "no such code")
		if r.turn.TryLock() {
			t.Error("somebody else may change a code meanwhile")
		}
		s.Release()
		r.code(Request{Name: "own", Code: "222222"})
		r.opens("222222")
	})
}

// A code that the cloud manages ends with its door: it does not open the door that
// comes back.
func TestManagedCodesEndWithTheirDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.code(Request{Name: "own", Code: "111111"})
		mine, err := r.manage(nil, spec("a", "222222"))
		if err != nil {
			t.Fatal(err)
		}
		s, ids, err := r.Stage(nil, mine, nil, "cloud")
		if err == nil {
			err = r.log.Commit(t.Context(), s)
		}
		if err != nil || len(ids) != 0 {
			t.Fatalf("%q, %v", ids, err)
		}
		r.restart()
		r.refused("222222", "no such code")
		r.opens("111111")
	})
}

// TestCodeOfADoorThatGoes: a code that waits while the site changes is one of the door that there is then, and of none if it has
// gone.
func TestCodeOfADoorThatGoes(t *testing.T) {
	for what, change := range map[string]func(r *rig, id string) error{
		"set": func(r *rig, _ string) error {
			_, _, _, err := r.Set(r.t.Context(), aurora, Request{Name: "late", Code: "333333"}, "somebody")
			return err
		},
		"delete": func(r *rig, id string) error { return r.Delete(r.t.Context(), aurora, id, "somebody") },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := startRig(t)
			first := r.code(Request{Name: "first", Code: "111111"})
			s, _, err := r.Stage(nil, nil, []Door{r.door()}, "cloud")
			if err != nil {
				t.Fatal(err)
			}
			seen := func() int { r.mu.Lock(); defer r.mu.Unlock(); return r.asked }
			before, done := seen(), make(chan error, 1)
			go func() { done <- change(r, first.ID) }()
			for n := 0; n < 20_000 && seen() == before; n++ {
				runtime.Gosched() // it waits for its turn
			}
			r.mu.Lock()
			r.gone = true
			r.mu.Unlock()
			s.Release()
			if err := <-done; problem.As(err) == nil || problem.As(err).Code != problem.NotFound {
				t.Errorf("%s: %v, want that there is no such door", what, err)
			}
			if all := r.of(aurora).all; len(all) != 1 || all[0].ID != first.ID {
				t.Errorf("%s: %d codes are stored", what, len(all))
			}
		})
	}
}
