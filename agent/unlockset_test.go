package agent_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

func TestUnlockCodesThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		h.code(agent.UnlockCodeSet{Name: "First", Code: "483920"})
		second := h.code(agent.UnlockCodeSet{Name: "second"})
		now, over := time.Now(), h.book(aurora, "00:15", "00:30")
		if _, err := h.Bookings.Cancel(t.Context(), over, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			set   agent.UnlockCodeSet
			code  agent.Code
			field string
		}{
			"no name":         {agent.UnlockCodeSet{Name: " ", Code: "1234567"}, agent.Invalid, "name"},
			"long name":       {agent.UnlockCodeSet{Name: strings.Repeat("a", 101)}, agent.Invalid, "name"},
			"name of bytes":   {agent.UnlockCodeSet{Name: "\xff"}, agent.Invalid, "name"},
			"name with lines": {agent.UnlockCodeSet{Name: "a\nb"}, agent.Invalid, "name"},
			"short":           {agent.UnlockCodeSet{Name: "a", Code: "123"}, agent.Invalid, "code"},
			"long":            {agent.UnlockCodeSet{Name: "a", Code: "12345678901"}, agent.Invalid, "code"},
			"letters":         {agent.UnlockCodeSet{Name: "a", Code: "12a456"}, agent.Invalid, "code"},
			"other digits":    {agent.UnlockCodeSet{Name: "a", Code: "١٢٣٤٥"}, agent.Invalid, "code"},
			"taken digits":    {agent.UnlockCodeSet{Name: "a", Code: "483920"}, agent.Conflict, "code"},
			"taken name":      {agent.UnlockCodeSet{ID: second.ID, Name: "FIRST"}, agent.Conflict, "name"},
			"unknown id":      {agent.UnlockCodeSet{ID: "x", Name: "a"}, agent.NotFound, "id"},
			"backwards":       {agent.UnlockCodeSet{Name: "a", From: now.Add(2 * time.Hour), Until: now.Add(time.Hour)}, agent.Invalid, "valid_until"},
			"past":            {agent.UnlockCodeSet{Name: "a", Until: now.Add(-time.Hour)}, agent.Invalid, "valid_until"},
			"far":             {agent.UnlockCodeSet{Name: "a", Until: now.AddDate(9000, 0, 0)}, agent.Invalid, "valid_until"},
			"no booking":      {agent.UnlockCodeSet{Name: "a", BookingID: "x"}, agent.NotFound, "booking_id"},
			"dead booking":    {agent.UnlockCodeSet{Name: "a", BookingID: over}, agent.NotNow, "booking_id"},
		} {
			_, _, _, err := h.SetUnlockCode(t.Context(), aurora, c.set, "test")
			if e := agent.AsError(err); e == nil || e.Code != c.code || e.Field != c.field {
				t.Errorf("%s: %v, want %s of %s", name, err, c.code, c.field)
			} else if c.set.Code != "" && strings.Contains(err.Error(), string(c.set.Code)) {
				t.Errorf("%s: the error has the digits: %v", name, err)
			}
		}
		if _, _, _, err := h.SetUnlockCode(t.Context(), borealis, agent.UnlockCodeSet{Name: "a"}, "test"); agent.AsError(err).Field != "meeting_space_id" {
			t.Errorf("a room without a lock: %v", err)
		}
		if err := h.DeleteUnlockCode(t.Context(), aurora, "x", "test"); agent.AsError(err).Code != agent.NotFound {
			t.Errorf("an unknown one is deleted: %v", err)
		}
		if all, err := h.UnlockCodes(aurora); err != nil || len(all) != 2 {
			t.Errorf("there are %+v, %v", all, err)
		}
	})
}

func TestUnlockCodeIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		first := h.code(agent.UnlockCodeSet{Name: "Cleaning", Code: "483920", Until: time.Now().Add(time.Hour)})
		again, made, created, err := h.SetUnlockCode(t.Context(), aurora, agent.UnlockCodeSet{Name: "cleaning "}, "test")
		if err != nil || made != "" || created || again.ID != first.ID || !again.Until.IsZero() || again.Digits != 6 {
			t.Errorf("the same name: %+v, %q, %t, %v", again, made, created, err)
		}
		h.pass(2 * time.Hour)
		h.opens("483920")
		h.code(agent.UnlockCodeSet{ID: first.ID, Name: "Cleaners", Code: "5550123"})
		h.refused("483920", "no such code")
		h.opens("5550123")
		_, made, created, err = h.SetUnlockCode(t.Context(), aurora, agent.UnlockCodeSet{Name: "guest"}, "test")
		if err != nil || !created || len(made) != 6 {
			t.Fatalf("digits of its own: %q, %t, %v", string(made), created, err)
		}
		h.opens(string(made))
		all, err := h.UnlockCodes(aurora)
		if err != nil || len(all) != 2 || all[0].Name != "Cleaners" || all[1].LastUsed.IsZero() {
			t.Errorf("there are %+v, %v", all, err)
		}
	})
}

// Few codes may be short, and only so many are kept. What is over goes first.
func TestUnlockCodesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		set := func(name, code string, until time.Time) error {
			_, _, _, err := h.SetUnlockCode(t.Context(), aurora, agent.UnlockCodeSet{Name: name, Code: drivers.Secret(code), Until: until}, "test")
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
		if err := set("one too many", "4711", time.Time{}); agent.AsError(err).Code != agent.Conflict {
			t.Errorf("one short code too many: %v", err)
		}
		all, err := h.UnlockCodes(aurora)
		for _, c := range all {
			if err := h.DeleteUnlockCode(t.Context(), aurora, c.ID, "test"); err != nil {
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
		if err := set("one too many", "600000", time.Time{}); agent.AsError(err).Code != agent.Full {
			t.Errorf("one code too many: %v", err)
		}
		h.pass(2 * time.Hour)
		if err := set("a clock that is set back", "600000", time.Time{}); agent.AsError(err).Code != agent.Full {
			t.Errorf("what is over for an hour may come back: %v", err)
		}
		h.pass(24 * time.Hour)
		if err := set("instead of one that is over", "600000", time.Time{}); err != nil {
			t.Errorf("those that are over are in the way: %v", err)
		}
		h.restart()
		if all, err := h.UnlockCodes(aurora); err != nil || len(all) != 496 {
			t.Errorf("there are %d, %v", len(all), err)
		}
		h.opens("700499")
	})
}

// Whatever is set, deleted and restarted: exactly the codes of a simple list
// open the door.
func TestUnlockCodesAgainstAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
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
				h.restart()
			case 1, 2:
				err := h.DeleteUnlockCode(context.Background(), aurora, ids[name], "test")
				if (err == nil) != (model[name] != "") {
					t.Fatalf("delete %s: %v", name, err)
				}
				delete(model, name)
			default:
				c, _, _, err := h.SetUnlockCode(context.Background(), aurora, agent.UnlockCodeSet{Name: name, Code: drivers.Secret(code)}, "test")
				if (err != nil) != taken {
					t.Fatalf("set %s to %s: %v, taken %t", name, code, err, taken)
				}
				if err == nil {
					model[name], ids[name] = code, c.ID
				}
			}
			all, err := h.UnlockCodes(aurora)
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
				h.opens(code)
			} else {
				h.refused(code, "no such code")
			}
		}
	})
}
