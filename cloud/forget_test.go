package cloud

import (
	"context"
	"testing"
	"time"
)

// TestFewRowsAreForgottenTogether, and many soon: what comes twice after a power
// cut is bounded by rows as well as by time.
func TestFewRowsAreForgottenTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Acks: AcksBroker, ForgetWithin: 10 * time.Second})
		time.Sleep(soon)
		for range 100 {
			p.box.add(1)
			p.up.Wake()
			time.Sleep(time.Second)
		}
		if n := p.box.steps(); n < 9 || n > 12 {
			t.Errorf("a row each second was forgotten in %d steps in 100 s, want about ten", n)
		}
		if behind := uint64(100) - p.box.forgotten(); behind > 11 {
			t.Errorf("%d rows were acknowledged and not forgotten, want those of ten seconds", behind)
		}
		time.Sleep(10 * time.Second)
		if got := p.box.forgotten(); got != 100 {
			t.Errorf("forgot up to %d of 100 rows", got)
		}
		p.box.add(1) // begins a pause
		p.up.Wake()
		time.Sleep(time.Second)
		p.box.add(2 * forgetRows)
		p.up.Wake()
		time.Sleep(2 * time.Second)
		if got := p.box.forgotten(); got < 100+forgetRows {
			t.Errorf("two seconds after %d rows it forgot up to %d", 2*forgetRows, got)
		}
	})
}
