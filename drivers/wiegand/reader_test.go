package wiegand

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// at watches a keypad in virtual time while f acts on it, and returns the
// codes that were told.
func at(t *testing.T, k *sim.Keypad, f func(w *sim.World)) (codes []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld()
		defer w.Close()
		k.D0, k.D1 = "d0", "d1"
		if err := w.Add("room", "lock", k); err != nil {
			t.Fatal(err)
		}
		r, err := Open(w, "d0", "d1")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- r.Watch(ctx, func(e drivers.Event) { codes = append(codes, string(e.Code)) })
		}()
		synctest.Wait()
		f(w)
		cancel()
		if err := <-done; err == nil {
			t.Error("Watch ended without an error")
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil || len(w.Held()) > 0 {
			t.Errorf("after Close: %v, held %q", err, w.Held())
		}
	})
	return codes
}

func TestKeys(t *testing.T) {
	for keys, want := range map[string]string{
		"1234#": "1234", "#": "", "##12#": "12", "12*34#": "34", "12*#": "",
		"1#2#": "1 2", "0000": "0000", // a pause ends it
		"1234567890123456#": "1234567890123456", "12345678901234567#1#": "1",
	} {
		for _, bits := range []int{4, 8} {
			codes := at(t, &sim.Keypad{KeyBits: bits}, func(w *sim.World) {
				if _, err := w.Control("room", "keypad", "keys", keys); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Second)
			})
			if got := strings.Join(codes, " "); got != want {
				t.Errorf("%s in %d bits is %q, want %q", keys, bits, got, want)
			}
		}
	}
}

func TestSlowHand(t *testing.T) {
	k := &sim.Keypad{}
	codes := at(t, k, func(*sim.World) {
		for _, key := range []string{"1", "2", "3"} {
			_ = k.Keys(key)
			time.Sleep(4 * time.Second)
		}
		time.Sleep(2 * time.Second)
		_ = k.Keys("4#")
		time.Sleep(time.Second)
	})
	if want := []string{"123", "4"}; !slices.Equal(codes, want) {
		t.Errorf("got %q, want %q", codes, want)
	}
}

func TestCards(t *testing.T) {
	for bits, card := range map[int]uint32{26: 65535, 34: 1, 37: 524287} {
		k := &sim.Keypad{CardBits: bits, Facility: 200}
		codes := at(t, k, func(w *sim.World) {
			if err := k.Card(card); err != nil {
				t.Fatal(err)
			}
			time.Sleep(500 * time.Millisecond)
			_ = k.Send(1<<25|1, 26, 100*time.Millisecond) // wrong parity
			_ = k.Send(0x3fff, 14, 100*time.Millisecond)
			time.Sleep(time.Second)
			if err := k.Card(7); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		})
		want := []string{map[int]string{26: "200:65535", 34: "200:1", 37: "200:524287"}[bits], "200:7"}
		if !slices.Equal(codes, want) {
			t.Errorf("%d bits: %q, want %q", bits, codes, want)
		}
	}
}

// bitTime is the simulated reader's.
const bitTime = 2 * time.Millisecond

// A line that is never quiet costs no more memory, and a card after it is read.
func TestNoiseIsBounded(t *testing.T) {
	k := &sim.Keypad{}
	codes := at(t, k, func(*sim.World) {
		for range 10 {
			_ = k.Send(0xaaaaaaaaaaaaaaaa, 64, bitTime)
			time.Sleep(64 * bitTime)
		}
		time.Sleep(time.Second)
		_ = k.Card(7)
		time.Sleep(time.Second)
	})
	if len(codes) == 0 || codes[len(codes)-1] != "0:7" {
		t.Errorf("got %q", codes)
	}
}

func TestLineInUse(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	if err := w.Add("room", "lock", &sim.Keypad{D0: "d0", D1: "d1"}); err != nil {
		t.Fatal(err)
	}
	line, err := w.Input("d1", drivers.PullUp)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	if _, err := Open(w, "d0", "d1"); !errors.Is(err, drivers.ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if held := w.Held(); !slices.Equal(held, []string{"d1"}) {
		t.Errorf("held %q after a refusal", held)
	}
}

// However late one of the lines is heard, the order of the bits is that of
// their times.
func TestMessagesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "messages")
		start := time.Unix(1, 0)
		var sent []message
		var heard []pulse
		for range n {
			m := message{n: rapid.IntRange(1, 40).Draw(t, "bits")}
			for range m.n {
				bit := rapid.Uint64Range(0, 1).Draw(t, "bit")
				start = start.Add(time.Duration(rapid.IntRange(200, 20000).Draw(t, "gap")) * time.Microsecond)
				m.bits, m.at = m.bits<<1|bit, start
				heard = append(heard, pulse{bit, start})
			}
			sent = append(sent, m)
			start = start.Add(pauseBetween)
		}
		shuffled := rapid.Permutation(heard).Draw(t, "heard")
		if got := messages(shuffled); !slices.Equal(got, sent) {
			t.Fatalf("got %v, want %v", got, sent)
		}
	})
}
