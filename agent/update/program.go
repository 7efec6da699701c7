package update

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Program is a verified program. It lies in memory, sealed before it was verified
// (memfd_create(2), fcntl(2)): the file that it was read from belongs to the user
// that the gateway runs as, who could change it between the verification and the
// start. Nor does it need the disk any more, which may fail.
type Program struct{ file *os.File }

// noChange is what the kernel refuses to everybody from then on, root included.
const noChange = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// load reads the program at path into memory, and makes sure that it is the one
// that was signed. It takes at most m.Size bytes, which is bounded by MaxBinary.
func load(path string, m Manifest) (*Program, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() != m.Size {
		return nil, fmt.Errorf("%s is not the file that was signed: it has %d bytes, not %d", path, info.Size(), m.Size)
	}
	p, err := inMemory(io.LimitReader(f, m.Size))
	if err != nil {
		return nil, fmt.Errorf("read the program into memory: %w", err)
	}
	sum := sha256.New()
	_, err = io.Copy(sum, io.NewSectionReader(p.file, 0, m.Size+1))
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		err = fmt.Errorf("%s is not the file that was signed: its checksum differs", path)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// inMemory returns a sealed copy.
func inMemory(r io.Reader) (*Program, error) {
	fd, err := unix.MemfdCreate(binaryName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3 every one can be executed
		fd, err = unix.MemfdCreate(binaryName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, err
	}
	p := &Program{os.NewFile(uintptr(fd), binaryName)}
	if _, err = io.Copy(p.file, r); err == nil {
		_, err = unix.FcntlInt(p.file.Fd(), unix.F_ADD_SEALS, noChange)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close gives the memory back.
func (p *Program) Close() error { return p.file.Close() }

// Exec becomes the program. It returns only with an error, and closes the program
// then.
func (p *Program) Exec(args, env []string) error {
	defer p.Close()
	fd := p.file.Fd()
	// The descriptor stays open: a script is read by its interpreter from there.
	if _, err := unix.FcntlInt(fd, unix.F_SETFD, 0); err != nil {
		return err
	}
	err := syscall.Exec(fmt.Sprintf("/proc/self/fd/%d", fd), args, env)
	runtime.KeepAlive(p)
	return err
}

// Command prepares to run the program as a child, as long as it is not closed.
func (p *Program) Command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "/proc/self/fd/3", args...)
	c.Args[0], c.ExtraFiles = binaryName, []*os.File{p.file}
	return c
}
