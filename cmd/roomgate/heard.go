package main

import (
	"context"
	"runtime"
	"time"
)

// endsWithin is how long what has been told to end may take to end in order.
const endsWithin = 2 * time.Second

// The kernel hands a signal to the first thread of a process and to no other. One that waits for a file takes none,
// so that thread is kept from whatever reads: only what main does itself runs there (signal(7), runtime.LockOSThread).
func init() { runtime.LockOSThread() }

// heard does what reads files, and is left behind if it does not end soon after ctx: a
// mount whose server has gone lets nobody who reads go on, and a signal ends the program
// all the same.
func heard[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ended := make(chan outcome, 1)
	go func() {
		value, err := read()
		ended <- outcome{value, err}
	}()
	select {
	case o := <-ended:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-ended:
		return o.value, o.err
	case <-time.After(endsWithin):
	}
	var none T
	return none, fail(exitFailed, "it was stopped while a file did not answer: look whether the disk or the mount of its configuration and its data answers, as with ls")
}
