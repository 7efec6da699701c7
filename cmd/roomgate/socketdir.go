package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"syscall"
)

// makeFallback makes the directory for the control socket of a gateway whose data
// directory takes none. A service has a runtime directory and needs no other.
func makeFallback(dir string) (string, error) {
	other := fallbackDirectory(dir)
	if err := os.MkdirAll(other, 0o700); err != nil {
		return "", fmt.Errorf("make a directory for the control socket: %w", err)
	}
	info, err := os.Lstat(other)
	if err != nil {
		return "", err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || info.Mode().Perm() != 0o700 || int(owner.Uid) != os.Getuid() {
		return "", fail(exitFailed, "%s, for the control socket, belongs to somebody else: remove it", other)
	}
	return other, nil
}

// fallbackDirectory is where the control socket goes if the data directory takes none.
func fallbackDirectory(dir string) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("roomgate-%d-%08x", os.Getuid(), crc32.ChecksumIEEE([]byte(dir))))
}

// removeFallback removes such a directory with the socket that a gateway has left in it. One
// that holds more, or that is somebody else's, stays.
func removeFallback(dir string) {
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		_ = os.Remove(filepath.Join(dir, socketName))
		_ = os.Remove(dir)
	}
}
