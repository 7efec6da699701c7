package guest

import (
	"net/netip"
	"testing"
	"time"
)

// A guest who has spent the tries of his network keeps nobody of it out, and finds no code.
func TestCodesAreLookedAtForANeighbour(t *testing.T) {
	c, now, looked := NewCodes(5, time.Minute, 10*time.Minute), time.Now(), 0
	link, other := netip.MustParsePrefix("fe80::/64"), netip.MustParsePrefix("192.0.2.7/32")
	for i := range 2 * maxWrongCodes {
		wait, look := c.Take(link, now)
		if look {
			looked++
		}
		if i < 100 && (!look || wait > 0 != (i >= 5)) {
			t.Fatalf("try %d: looked at %v, wait %v", i, look, wait)
		}
	}
	if looked != maxWrongCodes+5 {
		t.Errorf("%d wrong codes were looked at", looked)
	}
	if _, look := c.Take(other, now); !look {
		t.Error("another network is refused without a look")
	}
}
