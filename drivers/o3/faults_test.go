package o3_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
)

func TestLinkLostAndBack(t *testing.T) {
	h := hub()
	h.Period = time.Minute
	o := options()
	o.Silence = 5 * time.Minute
	with(t, h, o, func(b *bench) {
		time.Sleep(time.Minute + time.Second)
		b.want(drivers.SubTemperature, "21.5")
		b.hub.Unplug()
		synctest.Wait()
		began := time.Now()
		if _, err := b.value(drivers.SubTemperature); !errors.Is(err, drivers.ErrOffline) {
			b.Errorf("unplugged: %v", err)
		}
		if !time.Now().Equal(began) {
			b.Errorf("Poll of a lost hub took %s", time.Since(began))
		}
		b.hub.Mute(true) // as one that keeps no reports
		b.hub.Plug()
		time.Sleep(5 * time.Second)
		if got, err := b.value(drivers.SubTemperature); err == nil || errors.Is(err, drivers.ErrOffline) {
			b.Errorf("connected again, nothing reported: %q, %v", got, err)
		}
		b.hub.Mute(false)
		b.hub.Warm(25)
		synctest.Wait()
		b.want(drivers.SubTemperature, "25")
		if got, err := b.value(drivers.SubOccupancy); err == nil {
			b.Errorf("occupancy is %q from before the loss", got)
		}
		time.Sleep(time.Minute)
		b.want(drivers.SubOccupancy, drivers.Vacant)
	})
}

func TestCallsToALostHubAreFew(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubTemperature, "21.5")
		b.hub.Unplug()
		time.Sleep(10 * time.Minute)
		if n := b.room.dialled(); n < 40 || n > 90 {
			b.Errorf("%d calls in 10 minutes", n)
		}
		b.hub.Plug()
		time.Sleep(20 * time.Second)
		b.want(drivers.SubTemperature, "21.5")
	})
}

func TestSilence(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubTemperature, "21.5")
		b.hub.Mute(true)
		time.Sleep(55 * time.Second)
		b.want(drivers.SubTemperature, "21.5")
		if n := b.room.dialled(); n != 1 {
			b.Errorf("called %d times before twice the silence was over", n)
		}
		time.Sleep(20 * time.Second)
		if n := b.room.dialled(); n != 2 {
			b.Errorf("called %d times after twice the silence, want a new connection", n)
		}
		if got, err := b.value(drivers.SubTemperature); err == nil {
			b.Errorf("temperature is %q from before the new connection", got)
		}
		time.Sleep(20 * time.Second)
		if _, err := b.value(drivers.SubTemperature); !errors.Is(err, drivers.ErrOffline) {
			b.Errorf("silent for three times the limit: %v", err)
		}
		if _, err := b.do(drivers.SubRing, drivers.ActOn, ""); !errors.Is(err, drivers.ErrOffline) {
			b.Errorf("an order to a silent hub: %v", err)
		}
		b.hub.Mute(false)
		time.Sleep(5 * time.Second)
		b.want(drivers.SubTemperature, "21.5")
	})
}

func TestNonsense(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubTemperature, "21.5")
		b.hub.Babble(true)
		for range 30 {
			time.Sleep(5 * time.Second)
			all, err := b.Poll(b.Context())
			for _, s := range all {
				if err == nil && s.Sub != "" && s.Err == nil {
					b.Fatalf("%s is %q on nonsense", s.Sub, s.Value)
				}
			}
		}
		b.hub.Babble(false)
		time.Sleep(20 * time.Second)
		b.want(drivers.SubTemperature, "21.5")
	})
}

// TestLargeMessage: what is too large to be read is skipped, and is the end of
// the value that it is about and of no other; what a broker has kept is not even
// that.
func TestLargeMessage(t *testing.T) {
	for size, lost := range map[int]bool{1 << 10: false, 8 << 10: false, 65 << 10: false, 1 << 20: false, 17 << 20: true} {
		with(t, hub(), options(), func(b *bench) {
			large := []byte(`{"Present_Value": "` + strings.Repeat("x", size) + `"}`)
			b.want(drivers.SubTemperature, "21.5")
			b.hub.Unplug()
			synctest.Wait()
			b.hub.Retain("occupantTemperature", large)
			b.hub.Plug()
			if lost {
				time.Sleep(20 * time.Second)
				_, err := b.value(drivers.SubTemperature)
				if err == nil || !strings.Contains(err.Error(), "occupantTemperature") || !strings.Contains(err.Error(), strconv.Itoa(size/1000)) {
					b.Errorf("%d bytes: %v", size, err)
				}
				return
			}
			time.Sleep(20 * time.Second)
			before := b.room.dialled()
			time.Sleep(time.Minute + 300*time.Millisecond) // between two reports
			b.want(drivers.SubTemperature, "21.5")
			if n := b.room.dialled(); n != before {
				b.Errorf("retained %d bytes: called %d times", size, n-before)
			}
			b.hub.Mute(true)
			b.hub.Retain("occupantTemperature", large) // to us it is new
			synctest.Wait()
			_, err := b.value(drivers.SubTemperature)
			if err == nil || !strings.Contains(err.Error(), "occupantTemperature") || !errors.Is(err, drivers.ErrNoValue) {
				b.Errorf("%d bytes: %v", size, err)
			}
			b.want(drivers.SubOccupancy, drivers.Vacant)
			b.hub.Mute(false)
			time.Sleep(10 * time.Second)
			b.want(drivers.SubTemperature, "21.5")
		})
	}
}

func TestWrongPassword(t *testing.T) {
	o := options()
	o.Password = "wr0ng"
	with(t, hub(), o, func(b *bench) {
		_, err := b.value(drivers.SubTemperature)
		if !errors.Is(err, drivers.ErrOffline) || strings.Contains(err.Error(), "wr0ng") {
			b.Errorf("got %v", err)
		}
		time.Sleep(time.Minute)
		if n := b.room.dialled(); n > 15 {
			b.Errorf("%d attempts in a minute", n)
		}
	})
}

func TestMissingPasswordFile(t *testing.T) {
	o := options()
	o.Password, o.PasswordFile = "", t.TempDir()+"/none"
	with(t, hub(), o, func(b *bench) {
		if _, err := b.value(drivers.SubTemperature); !errors.Is(err, drivers.ErrOffline) {
			b.Errorf("got %v", err)
		}
	})
}

func TestCloseOfALostHub(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubRing, drivers.Off)
		b.hub.Stick()
		began := time.Now()
		_ = b.Close()
		if took := time.Since(began); took > 2*time.Second {
			b.Errorf("Close took %s", took)
		}
		b.hub.Unstick()
	})
}

func TestAForgottenSubscriptionIsRenewed(t *testing.T) {
	with(t, hub(), options(), func(b *bench) {
		b.want(drivers.SubTemperature, "21.5")
		b.hub.Forget()
		b.hub.Warm(25)
		time.Sleep(25 * time.Second)
		b.want(drivers.SubTemperature, "21.5") // has not heard of it
		time.Sleep(20 * time.Second)
		b.want(drivers.SubTemperature, "25")
		if n := b.room.dialled(); n != 1 {
			b.Errorf("called %d times, want the same connection", n)
		}
	})
}
