package refusal

import (
	"fmt"
	"testing"
	"time"

	"roomgate/agent/clock"
)

// TestUnstoredAreForgottenByAge: an id that was refused is not forgotten because others come, only by its age.
func TestUnstoredAreForgottenByAge(t *testing.T) {
	var u Unstored
	row := func(i int, at time.Duration) Row { return Row{ID: fmt.Sprint("m", i), Lived: clock.Lived(at)} }
	for i := range MostUnstored {
		if !u.Add(row(i, 1), time.Minute) {
			t.Fatalf("there is no room for the refusal number %d", i)
		}
	}
	if u.Add(row(MostUnstored, 2), time.Minute) {
		t.Error("one more than fits is remembered")
	}
	if _, ok := u.Find("m0"); !ok {
		t.Error("the first one was forgotten while it is young")
	}
	if !u.Add(row(MostUnstored, time.Minute+1), time.Minute) {
		t.Error("nothing is forgotten by age")
	}
	if _, ok := u.Find("m0"); ok {
		t.Error("an old one is remembered")
	}
}
