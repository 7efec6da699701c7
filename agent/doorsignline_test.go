package agent

import (
	"fmt"
	"testing"
	"time"
)

// TestUnsignedConfigurationIsInNobodysWay: whoever is between the cloud and the
// building could else take the highest revision, and nothing that the cloud signs
// would ever come again.
func TestUnsignedConfigurationIsInNobodysWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		steps := []struct {
			signed   bool
			revision string
			parts    string
			want     string
		}{
			{false, "9223372036854775807", "", "done"},
			{true, "5", doorCode, "done"},
			{true, "5", doorRule, "rejected conflict revision"},
			{false, "9223372036854775807", "", "rejected forbidden the"},
			{false, "6", `,"unlock_codes":[],"rules":[],"users":[],"keys":[]`, "rejected forbidden the"},
			{true, "4", doorCode, "rejected conflict revision"},
			{true, "6", doorCode, "done"},
		}
		for i, s := range steps {
			id := fmt.Sprint("m", i)
			data := `{"revision":` + s.revision + s.parts + `}`
			if s.signed {
				r.bring(signed{level: "config", id: id, data: data})
			} else {
				r.down("config", id, data, time.Now())
				r.wait(time.Second)
			}
			if got := r.outcome(id); got != s.want {
				t.Errorf("%d: revision %s, signed %v: %s, want %s", i, s.revision, s.signed, got, s.want)
			}
		}
	})
}

// TestSignedRevisionOutlivesTheClaim: a broker that has kept a configuration of an
// earlier claim brings nothing of it back, whatever came unsigned between the two.
func TestSignedRevisionOutlivesTheClaim(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		for revision, id := range map[int]string{7: "first"} {
			if got := r.configured(id, revision, doorCode, "cloud"); got != "done" {
				t.Fatal(got)
			}
		}
		if err := r.Events.Commit(t.Context(), r.signers.StageNone()); err != nil {
			t.Fatal(err)
		}
		r.down("config", "between", `{"revision":8,"unlock_codes":[]}`, time.Now())
		r.wait(time.Second)
		if got := r.outcome("between"); got != "done" {
			t.Fatalf("without a key: %s", got)
		}
		r.hold(publicKey("cloud"))
		for revision, want := range map[int]string{6: "rejected conflict revision", 7: "rejected conflict revision"} {
			if got := r.configured(fmt.Sprint("kept", revision), revision, doorCode, "cloud"); got != want {
				t.Errorf("kept, revision %d: %s, want %s", revision, got, want)
			}
		}
		if got := r.configured("first", 7, doorCode, "cloud"); got != "rejected conflict revision" {
			t.Errorf("the first again: %s", got)
		}
		if got := r.configured("next", 8, doorCode, "cloud"); got != "done" {
			t.Errorf("the next: %s", got)
		}
	})
}
