package disk

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Uncached is a file whose bytes come from the disk, also those that the kernel has in memory: what a card has lost is not
// seen there. One goroutine at a time reads it.
type Uncached struct {
	file   *os.File
	direct bool
	spare  []byte // a buffer whose address the disk takes
}

// block is what the addresses, places and lengths of direct reads are multiples of. Disks want 512 or 4096.
const block = 4096

// OpenUncached opens a file to read it from the disk. Where the file system reads nothing past the memory (tmpfs, some
// FUSE), the kernel is asked to forget each piece before it is read; of a file that is mapped it may keep some.
func OpenUncached(path string) (*Uncached, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
	if errors.Is(err, unix.EINVAL) {
		file, err = os.Open(path)
		return &Uncached{file: file}, err
	}
	return &Uncached{file: file, direct: true}, err
}

// ReadAt reads a piece.
func (u *Uncached) ReadAt(p []byte, at int64) (int, error) {
	if u.direct {
		n, err := u.readBlocks(p, at)
		if !errors.Is(err, unix.EINVAL) {
			return n, err
		}
		u.direct = false // it has a reason of its own
		if err := u.buffered(); err != nil {
			return 0, err
		}
	}
	_ = unix.Fadvise(int(u.file.Fd()), at, int64(len(p)), unix.FADV_DONTNEED) // pieces of pages stay
	return u.file.ReadAt(p, at)
}

// readBlocks reads the whole blocks in which a piece lies.
func (u *Uncached) readBlocks(p []byte, at int64) (int, error) {
	first := at - at%block
	skip := int(at - first)
	n, err := u.file.ReadAt(u.aligned(skip+len(p)), first)
	n = copy(p, u.spare[min(skip, n):n])
	if n == len(p) {
		err = nil // the end lies behind it
	}
	return n, err
}

// aligned makes spare hold so many bytes, in whole blocks and at an address that is a multiple of one.
func (u *Uncached) aligned(size int) []byte {
	size = (size + block - 1) / block * block
	if len(u.spare) < size {
		raw := make([]byte, size+block)
		off := int(-uintptr(unsafe.Pointer(&raw[0])) % block)
		u.spare = raw[off : off+size]
	}
	return u.spare[:size]
}

// buffered gives up reading past the memory.
func (u *Uncached) buffered() error {
	flags, err := unix.FcntlInt(u.file.Fd(), unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(u.file.Fd(), unix.F_SETFL, flags&^unix.O_DIRECT)
	}
	return err
}

// Close lets the file go.
func (u *Uncached) Close() error { return u.file.Close() }

// Forget asks the kernel to drop what it has of a file in memory, so that whoever opens it next reads the disk. Nobody
// may have it mapped any more. It is advice: who cannot follow it does not.
func Forget(path string) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	_ = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
}
