package disk

import (
	"fmt"
	"syscall"
)

// Free is how many bytes more a file in a folder may take (statfs(2)), without what is kept for root.
func Free(folder string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return 0, fmt.Errorf("free disk space of %s: %w", folder, err)
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}
