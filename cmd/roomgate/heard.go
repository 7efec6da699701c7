package main

import (
	"context"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// endsWithin is how long what has been told to end may take to end in order.
const endsWithin = 2 * time.Second

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
		offFirstThread(func() {
			value, err := read()
			ended <- outcome{value, err}
		})
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
	return none, fail(exitFailed, "it was stopped while a file or its input did not answer: if it waited for a file, look whether the disk or the mount of its configuration and its data answers, as with ls")
}

// offFirstThread does f on another thread than the first of the process: the kernel hands a signal to that one
// and to no other, and a thread that waits for a file takes none (signal(7)).
func offFirstThread(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Gettid() != os.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	<-done // this goroutine keeps the first thread meanwhile
}
