package sim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
)

const echoAt = "echo.example:7"

// echo is a world with a part that answers every byte with itself.
func echo(t *testing.T) (*World, *Faults) {
	t.Helper()
	w := world(t)
	f := &Faults{done: w.done}
	if err := w.ListenPart(echoAt, f, func(c net.Conn) { _, _ = io.Copy(c, c) }); err != nil {
		t.Fatal(err)
	}
	return w, f
}

func dial(t *testing.T, w *World) net.Conn {
	t.Helper()
	c, err := w.Dial(t.Context(), "tcp", echoAt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// say sends text and reads as much as it has.
func say(c net.Conn, text string) (string, error) {
	if _, err := c.Write([]byte(text)); err != nil {
		return "", err
	}
	b := make([]byte, len(text))
	n, err := io.ReadFull(c, b)
	return string(b[:n]), err
}

func TestDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := echo(t)
		c := dial(t, w)
		if got, err := say(c, "hello"); got != "hello" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := w.Dial(t.Context(), "tcp", "nobody.example:1"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody there: %v", err)
		}
		if _, err := w.Dial(t.Context(), "udp", echoAt); err == nil {
			t.Error("udp is accepted")
		}
		if err := w.Listen(echoAt, nil); !errors.Is(err, drivers.ErrInUse) {
			t.Errorf("a second listener: %v", err)
		}
		if err := w.Listen("no port", nil); err == nil {
			t.Error("an address without a port is accepted")
		}
		f.Unplug()
		if _, err := w.Dial(t.Context(), "tcp", echoAt); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("unplugged: %v", err)
		}
		if _, err := say(c, "x"); err == nil {
			t.Error("a connection outlives the plug")
		}
		f.Plug()
		if got, err := say(dial(t, w), "again"); got != "again" || err != nil {
			t.Errorf("plugged in again: %q, %v", got, err)
		}
	})
}

func TestSilentHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := echo(t)
		c := dial(t, w)
		f.Stick()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		began := time.Now()
		if _, err := say(c, "x"); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("stuck: %v after %s", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := w.Dial(ctx, "tcp", echoAt); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("dialling a silent host: %v", err)
		}
		_ = c.SetDeadline(time.Time{})
		f.Unstick()
		b := make([]byte, 1)
		if _, err := io.ReadFull(c, b); err != nil || b[0] != 'x' {
			t.Errorf("what was on its way: %q, %v", b, err)
		}
	})
}

func TestSlowAndGarbledHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := echo(t)
		c := dial(t, w)
		f.Delay(time.Second)
		began := time.Now()
		if got, err := say(c, "slow"); got != "slow" || err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("delayed: %q, %v after %s, want two seconds there and back", got, err, time.Since(began))
		}
		f.Delay(0)
		f.Garble()
		if got, err := say(c, "bad"); got == "bad" || err != nil {
			t.Errorf("garbled: %q, %v", got, err)
		}
	})
}

func TestPipeCarriesMuchAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipe(addr("a:1"), addr("b:1"))
		sent := bytes.Repeat([]byte("0123456789"), 50_000)
		go func() {
			_, _ = a.Write(sent)
			_ = a.Close()
		}()
		if got, err := io.ReadAll(b); !bytes.Equal(got, sent) || err != nil {
			t.Errorf("%d of %d bytes arrived, %v", len(got), len(sent), err)
		}
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read of the closed end: %v", err)
		}
		if _, err := a.Write([]byte{1}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write to the closed end: %v", err)
		}
		if _, err := b.Write([]byte{1}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write to the other end: %v", err)
		}
	})
}

func TestPipeDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipe(addr("a:1"), addr("b:1"))
		defer b.Close()
		defer a.Close()
		n, err := 0, error(nil)
		_ = a.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err = a.Write(make([]byte, pipeSize+1)); n != pipeSize || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a full pipe took %d bytes, %v", n, err)
		}
		_ = a.SetReadDeadline(time.Now().Add(time.Hour))
		var reading sync.WaitGroup
		began := time.Now()
		reading.Go(func() { _, err = a.Read(make([]byte, 1)) })
		synctest.Wait()
		_ = a.SetReadDeadline(time.Now()) // moves the deadline of a read that waits
		reading.Wait()
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestCloseEndsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := echo(t)
		c := dial(t, w)
		over := make(chan error)
		go func() { _, err := c.Read(make([]byte, 1)); over <- err }()
		synctest.Wait()
		w.Close()
		if err := <-over; err == nil {
			t.Error("a read outlives the world")
		}
		if _, err := w.Dial(t.Context(), "tcp", echoAt); err == nil {
			t.Error("a closed world can be dialled")
		}
	})
}
