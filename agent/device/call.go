package device

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// callGrace is how long a driver may take to notice that its time is over
// before it is left alone.
const callGrace = 250 * time.Millisecond

// call runs one driver call with the deadline outside of it: buses such as
// I2C cannot be interrupted. A call that does not come back is left behind,
// and until it does come back no other is let in. A panic is an error.
func call[T any](ctx context.Context, d *Device, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	select {
	case d.busy <- struct{}{}:
	default:
		return none, &fault{errors.New("an earlier call to the device has not come back")}
	}
	inside, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	back := make(chan result, 1)
	go func() {
		var r result
		r.err = guard(func() (err error) { r.value, err = f(inside); return err })
		<-d.busy
		back <- r
	}()
	late := time.NewTimer(timeout + callGrace)
	defer late.Stop()
	select {
	case r := <-back:
		if r.err != nil {
			return r.value, &fault{r.err}
		}
		return r.value, nil
	case <-late.C:
		return none, &fault{fmt.Errorf("no answer within %v", timeout)}
	}
}

// guard turns a panic into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
