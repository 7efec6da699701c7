package unlock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

func TestUnlockCodesThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.code(Request{Name: "First", Code: "483920"})
		second := r.code(Request{Name: "second"})
		now, over := time.Now(), r.book("00:15", "00:30")
		if _, err := r.bookings.Cancel(t.Context(), over, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			set   Request
			code  problem.Code
			field string
		}{
			"no name":         {Request{Name: " ", Code: "1234567"}, problem.Invalid, "name"},
			"long name":       {Request{Name: strings.Repeat("a", 101)}, problem.Invalid, "name"},
			"name of bytes":   {Request{Name: "\xff"}, problem.Invalid, "name"},
			"name with lines": {Request{Name: "a\nb"}, problem.Invalid, "name"},
			"short":           {Request{Name: "a", Code: "123"}, problem.Invalid, "code"},
			"long":            {Request{Name: "a", Code: "12345678901"}, problem.Invalid, "code"},
			"letters":         {Request{Name: "a", Code: "12a456"}, problem.Invalid, "code"},
			"other digits":    {Request{Name: "a", Code: "١٢٣٤٥"}, problem.Invalid, "code"},
			"taken digits":    {Request{Name: "a", Code: "483920"}, problem.Conflict, "code"},
			"taken name":      {Request{ID: second.ID, Name: "FIRST"}, problem.Conflict, "name"},
			"unknown id":      {Request{ID: "x", Name: "a"}, problem.NotFound, "id"},
			"backwards":       {Request{Name: "a", From: now.Add(2 * time.Hour), Until: now.Add(time.Hour)}, problem.Invalid, "valid_until"},
			"past":            {Request{Name: "a", Until: now.Add(-time.Hour)}, problem.Invalid, "valid_until"},
			"far":             {Request{Name: "a", Until: now.AddDate(9000, 0, 0)}, problem.Invalid, "valid_until"},
			"no booking":      {Request{Name: "a", BookingID: "x"}, problem.NotFound, "booking_id"},
			"dead booking":    {Request{Name: "a", BookingID: over}, problem.NotNow, "booking_id"},
		} {
			_, _, _, err := r.Set(t.Context(), aurora, c.set, "test")
			if e := problem.As(err); e == nil || e.Code != c.code || e.Field != c.field {
				t.Errorf("%s: %v, want %s of %s", name, err, c.code, c.field)
			} else if c.set.Code != "" && strings.Contains(err.Error(), string(c.set.Code)) {
				t.Errorf("%s: the error has the digits: %v", name, err)
			}
		}
		if _, _, _, err := r.Set(t.Context(), borealis, Request{Name: "a"}, "test"); problem.As(err).Field != "meeting_space_id" {
			t.Errorf("a room without a lock: %v", err)
		}
		if err := r.Delete(t.Context(), aurora, "x", "test"); problem.As(err).Code != problem.NotFound {
			t.Errorf("an unknown one is deleted: %v", err)
		}
		if all, err := r.List(aurora); err != nil || len(all) != 2 {
			t.Errorf("there are %+v, %v", all, err)
		}
	})
}

func TestUnlockCodeIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		first := r.code(Request{Name: "Cleaning", Code: "483920", Until: time.Now().Add(time.Hour)})
		again, made, created, err := r.Set(t.Context(), aurora, Request{Name: "cleaning "}, "test")
		if err != nil {
			t.Fatalf("the same name: %+v, %q, %t, %v", again, made, created, err)
		}
		goldentest.Values(t, "the same name", goldentest.Pairs{"made": {made, ""}, "created": {created, false},
			"ID": {again.ID, first.ID}, "Until is zero": {again.Until.IsZero(), true}, "Digits": {again.Digits, 6}})
		r.pass(2 * time.Hour)
		r.opens("483920")
		r.code(Request{ID: first.ID, Name: "Cleaners", Code: "5550123"})
		r.refused("483920", "no such code")
		r.opens("5550123")
		_, made, created, err = r.Set(t.Context(), aurora, Request{Name: "guest"}, "test")
		if err != nil || !created || len(made) != 6 {
			t.Fatalf("digits of its own: %q, %t, %v", string(made), created, err)
		}
		r.opens(string(made))
		all, err := r.List(aurora)
		if err != nil || len(all) != 2 || all[0].Name != "Cleaners" || all[1].LastUsed.IsZero() {
			t.Errorf("there are %+v, %v", all, err)
		}
	})
}

// Few codes may be short, and only so many are kept. What is over goes first.
func TestUnlockCodesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		set := func(name, code string, until time.Time) error {
			_, _, _, err := r.Set(t.Context(), aurora, Request{Name: name, Code: drivers.Secret(code), Until: until}, "test")
			return err
		}
		for i := range 9 {
			if err := set(fmt.Sprint("short ", i), fmt.Sprint(4000+i), time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 10 {
			if err := set(fmt.Sprint("longer ", i), fmt.Sprint(40000+i), time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := set("one too many", "4711", time.Time{}); problem.As(err).Code != problem.Conflict {
			t.Errorf("one short code too many: %v", err)
		}
		all, err := r.List(aurora)
		for _, c := range all {
			if err := r.Delete(t.Context(), aurora, c.ID, "test"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range 500 {
			until := time.Time{}
			if i%100 == 0 {
				until = time.Now().Add(time.Hour)
			}
			if err := set(fmt.Sprint("code ", i), fmt.Sprint(700000+i), until); err != nil {
				t.Fatal(err)
			}
		}
		if err := set("one too many", "600000", time.Time{}); problem.As(err).Code != problem.Full {
			t.Errorf("one code too many: %v", err)
		}
		r.pass(2 * time.Hour)
		if err := set("a clock that is set back", "600000", time.Time{}); problem.As(err).Code != problem.Full {
			t.Errorf("what is over for an hour may come back: %v", err)
		}
		r.pass(24 * time.Hour)
		if err := set("instead of one that is over", "600000", time.Time{}); err != nil {
			t.Errorf("those that are over are in the way: %v", err)
		}
		r.restart()
		if all, err := r.List(aurora); err != nil || len(all) != 496 {
			t.Errorf("there are %d, %v", len(all), err)
		}
		r.opens("700499")
	})
}

// Whatever is set, deleted and restarted: exactly the codes of a simple list
// open the door.
func TestUnlockCodesAgainstAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		model := map[string]string{} // digits by name
		ids := map[string]string{}
		random := rand.New(rand.NewPCG(5, 7))
		for range 200 {
			name := []string{"a", "b", "c"}[random.IntN(3)]
			code := []string{"111111", "222222", "333333", "444444"}[random.IntN(4)]
			taken := false
			for n, c := range model {
				taken = taken || c == code && n != name
			}
			switch random.IntN(10) {
			case 0:
				r.restart()
			case 1, 2:
				err := r.Delete(context.Background(), aurora, ids[name], "test")
				if (err == nil) != (model[name] != "") {
					t.Fatalf("delete %s: %v", name, err)
				}
				delete(model, name)
			default:
				c, _, _, err := r.Set(context.Background(), aurora, Request{Name: name, Code: drivers.Secret(code)}, "test")
				if (err != nil) != taken {
					t.Fatalf("set %s to %s: %v, taken %t", name, code, err, taken)
				}
				if err == nil {
					model[name], ids[name] = code, c.ID
				}
			}
			all, err := r.List(aurora)
			if err != nil || len(all) != len(model) {
				t.Fatalf("%d codes, %v, want %d", len(all), err, len(model))
			}
		}
		for _, code := range []string{"111111", "222222", "333333"} {
			opens := false
			for _, c := range model {
				opens = opens || c == code
			}
			if opens {
				r.opens(code)
			} else {
				r.refused(code, "no such code")
			}
		}
	})
}
