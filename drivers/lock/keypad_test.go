package lock

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

// atKeypad runs f on a lock with a keypad beside its door.
func atKeypad(t *testing.T, f func(b *bench, k *sim.Keypad)) {
	t.Helper()
	on(t, wired(), func(b *bench) {
		b.must(b.lock.Close())
		k := &sim.Keypad{D0: "d0", D1: "d1", Facility: 12}
		b.must(b.world.Add("room", "lock", k))
		o := wired()
		o.Keypad = Keypad{"d0", "d1"}
		var err error
		b.lock, err = o.Open(b.Context(), b.world)
		b.must(err)
		f(b, k)
	})
}

func TestCodeAndCard(t *testing.T) {
	atKeypad(t, func(b *bench, k *sim.Keypad) {
		told := b.watching(func() {
			b.must(k.Keys("2580#"))
			time.Sleep(2 * time.Second)
			b.must(k.Card(54321))
			time.Sleep(time.Second)
		})
		b.expect(told, drivers.EventCodeEntered, drivers.EventCodeEntered)
		want := []map[string]any{{"bits": 4, "digits": 4}, {"bits": 26, "facility": 12, "card": 54321}}
		for i, code := range []drivers.Secret{"2580", "12:54321"} {
			e := told[len(told)-2+i]
			if e.Code != code || !cmp.Equal(e.Details, want[i]) || e.Time.IsZero() {
				b.Errorf("got %v at %v, right code: %t", e.Details, e.Time, e.Code == code)
			}
		}
		if b.door.Drawn() {
			b.Error("the lock judged a code by itself")
		}
	})
}

// Whatever prints an event, the code is not in it.
func TestCodeIsNeverShown(t *testing.T) {
	atKeypad(t, func(b *bench, k *sim.Keypad) {
		told := b.watching(func() {
			b.must(k.Keys("2580#"))
			time.Sleep(2 * time.Second)
		})
		asJSON, err := json.Marshal(told)
		b.must(err)
		for _, text := range []string{string(asJSON), fmt.Sprint(told), fmt.Sprintf("%+v %#v", told, told)} {
			if strings.Contains(text, "2580") {
				b.Errorf("shown: %s", text)
			}
		}
	})
}

// A keypad that is pulled off the wall neither ends the watch over the door
// nor needs help to come back.
func TestKeypadFailsAlone(t *testing.T) {
	atKeypad(t, func(b *bench, k *sim.Keypad) {
		b.expect(b.watching(func() {
			k.Unplug()
			time.Sleep(time.Minute)
			b.door.Force()
			time.Sleep(time.Second)
			b.door.Shut()
			time.Sleep(time.Second)
			k.Plug()
			time.Sleep(2 * time.Second)
			b.must(k.Keys("1#"))
			time.Sleep(time.Second)
		}), drivers.EventDoorForced, drivers.EventDoorShut, drivers.EventCodeEntered)
		if _, err := b.lock.Poll(b.Context()); err != nil {
			b.Error(err)
		}
	})
}
