package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// Sealing is how a sealed backup is made.
type Sealing struct {
	Passphrase string
	Factor     int // how hard that is to guess, see Seal
	Schema     int // the newest that this program knows
	// Write writes the backup, as [Write] does.
	Write func(ctx context.Context, w io.Writer) error
	// Told returns what is told how far a part of the work is. Two parts may tell at one time.
	Told func(part string) Progress
}

// WriteSealed seals a backup into f, verifies it on the way, and reads it back from there.
func WriteSealed(ctx context.Context, f *os.File, s Sealing) (Manifest, error) {
	if err := s.into(ctx, f); err != nil {
		return Manifest{}, err
	}
	debug.FreeOSMemory() // the passphrase took 64 MiB for a moment, and takes it again
	defer debug.FreeOSMemory()
	o, err := s.readBack(ctx, f)
	if err != nil {
		return Manifest{}, fmt.Errorf("cannot read back the written backup: %w", err)
	}
	return o.Manifest, nil
}

func (s Sealing) into(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sealer, err := Seal(f, s.Passphrase, s.Factor)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.Write(ctx, w)
		ended <- err
		_ = w.CloseWithError(err) // nil is the end of the file
	}()
	_, err = Read(ctx, io.TeeReader(r, sealer), s.Schema, "", s.Told("backup"))
	_ = r.CloseWithError(context.Canceled) // lets the writer end
	cancel()
	if cause := <-ended; cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return errors.Join(err, sealer.Close(), f.Sync())
}

func (s Sealing) readBack(ctx context.Context, f *os.File) (*Opened, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r, err := Unseal(f, s.Passphrase)
	if err != nil {
		return nil, err
	}
	return Read(ctx, r, s.Schema, "", s.Told("reading back"))
}
