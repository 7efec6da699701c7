package backup

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

const (
	// MinPassphrase is the shortest passphrase that a backup is sealed with,
	// in bytes.
	MinPassphrase = 12
	// WorkFactor is the usual one of scrypt: 2^16 takes 64 MiB for a moment, which the
	// smallest board still has beside a running gateway. age's own 2^18 takes
	// 256 MiB.
	WorkFactor = 16
	// maxWorkFactor is what is accepted: 2^18 is what the age tool writes. A
	// file that asks for more could ask for all the memory there is.
	maxWorkFactor = 18
)

// magic is how every age file begins.
const magic = "age-encryption.org/v1\n"

// Seal returns a writer whose contents only the passphrase opens. Guessing one
// takes 2^factor steps of scrypt. Close ends the file.
func Seal(w io.Writer, passphrase string, factor int) (io.WriteCloser, error) {
	if len(passphrase) < MinPassphrase {
		return nil, fmt.Errorf("the passphrase has %d characters: choose at least %d", len(passphrase), MinPassphrase)
	}
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	to.SetWorkFactor(factor)
	sealed, err := age.Encrypt(w, to) // writes the header
	if err != nil {
		return nil, fmt.Errorf("the backup cannot be written: %w", err)
	}
	return &sealer{gzip.NewWriter(sealed), sealed}, nil
}

type sealer struct {
	*gzip.Writer
	sealed io.WriteCloser
}

// Close ends both layers.
func (s *sealer) Close() error { return errors.Join(s.Writer.Close(), s.sealed.Close()) }

// Unseal returns a reader of what was sealed. Its errors are ErrPassphrase,
// ErrNotBackup and ErrDamaged, those of reading included.
func Unseal(r io.Reader, passphrase string) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	if !IsSealed(buffered) {
		return nil, ErrNotBackup
	}
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, ErrPassphrase
	}
	id.SetMaxWorkFactor(maxWorkFactor)
	opened, err := age.Decrypt(buffered, id)
	if err != nil {
		return nil, unsealError(err)
	}
	body := bufio.NewReader(opened)
	unzipped, err := gzip.NewReader(body)
	if errors.Is(err, gzip.ErrHeader) {
		return nil, ErrNotBackup
	}
	if err != nil {
		return nil, streamError(err, "")
	}
	unzipped.Multistream(false)
	return io.MultiReader(unzipped, atEnd{body}), nil
}

// atEnd reads nothing, but to where age says that the file is whole.
type atEnd struct{ r io.Reader }

// Read is io.EOF if nothing is left.
func (e atEnd) Read([]byte) (int, error) {
	n, err := io.Copy(io.Discard, io.LimitReader(e.r, 1))
	switch {
	case err != nil:
		return 0, err
	case n > 0:
		return 0, fmt.Errorf("%w: something was added to it", ErrDamaged)
	}
	return 0, io.EOF
}

// IsSealed says whether an age file comes next.
func IsSealed(r *bufio.Reader) bool {
	begin, _ := r.Peek(len(magic))
	return string(begin) == magic
}

// unsealError tells a wrong passphrase from a damaged head.
func unsealError(err error) error {
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return ErrPassphrase
	case strings.Contains(err.Error(), "work factor"):
		return fmt.Errorf("%w: opening it would take more memory than any that this program has written", ErrNotBackup)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
