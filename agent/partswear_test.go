package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/problem"
)

// largePart is one part of a message that never becomes whole, of nearly a megabyte.
func largePart(level, whole string) string {
	extra := `"revision":9`
	if level == "schedule" {
		extra += fmt.Sprintf(`,"kind":"snapshot","meeting_space_id":%q`, room)
	}
	return fmt.Sprintf(`{%s,"part":1,"of":2,"whole":%q,"filler":%q}`, extra, whole, strings.Repeat("x", 1<<20-1<<10))
}

// TestPartsWearNoCardOut: whoever may send, and only him, could else have gigabytes of parts
// written that never become a message. What is signed goes on, and one more goes now and then.
func TestPartsWearNoCardOut(t *testing.T) {
	for _, level := range []string{"config", "schedule"} {
		bubble(t, func(t *testing.T) {
			r := startGuarded(t, withDoor)
			flood := func(name string) (stored int) {
				for i := range 20 {
					id := fmt.Sprint(name, i)
					r.down(level, id, largePart(level, id), time.Now())
					if got := r.receipts(id); len(got) > 0 && got[0].Code == "" {
						stored++
					} else if got[0].Code != problem.Busy {
						t.Fatalf("%s: receipts %+v", id, got)
					}
				}
				return stored
			}
			if n := flood("f"); n != 16 {
				t.Errorf("of %s 20 MB came, and %d MB are written", level, n)
			}
			r.wait(90 * time.Minute)
			if n := flood("g"); n != 1 {
				t.Errorf("after 90 minutes %d MB of %s are written", n, level)
			}
			if got := r.configured("genuine", 1, doorCode+`,"part":1,"of":1,"whole":"genuine"`, "cloud"); got != "done" {
				t.Errorf("what is signed: %s", got)
			}
		})
	}
}

// TestAcceptedPartsAreNotLimited: a cloud that sends whole messages may send any number.
func TestAcceptedPartsAreNotLimited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		filler := strings.Repeat(" ", 1<<20-1<<10)
		for i := range 20 {
			id := fmt.Sprint("s", i)
			r.down("config", id, fmt.Sprintf(`{"revision":%d,"part":1,"of":1,"whole":%q,"users":[%s]}`, i+1, id, filler), on(7, 0))
			if got := r.outcome(id); got != "done" {
				t.Fatalf("%s: %s", id, got)
			}
		}
	})
}

// TestUnsignedPartsAreRefusedAtOnce: where only signed configurations count, a part that is
// not signed is not stored.
func TestUnsignedPartsAreRefusedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		if got := r.configured("first", 1, doorCode, "cloud"); got != "done" {
			t.Fatal(got)
		}
		r.down("config", "forged", largePart("config", "forged"), time.Now())
		if got := r.outcome("forged"); got != "rejected forbidden the" {
			t.Errorf("receipt %s", got)
		}
		if sets, parts, _ := r.heldParts(); sets+parts > 0 {
			t.Errorf("%d messages and %d parts are stored", sets, parts)
		}
	})
}
