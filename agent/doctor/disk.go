package doctor

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"roomgate/agent/backup"
	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/agent/machineuser"
)

const (
	littleDisk = 512 << 20 // bytes
	noDisk     = 64 << 20
)

// dataFolder examines the folder of the database.
func dataFolder(_ context.Context, x *examination) []Finding {
	const name = "data folder"
	dir := folderOf(x)
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case shutOut(x):
		return one(fail(name, "the service may not write "+dir+": it is not below its StateDirectory",
			"remove data from "+opened(x, x.ConfigFile)+", or allow it with sudo systemctl edit roomgate, [Service] and ReadWritePaths="+dir+" as two lines; then "+x.restart()))
	case errors.Is(err, fs.ErrNotExist):
		return one(unmade(x, name, dir))
	case errors.Is(err, fs.ErrPermission): // who asks is not root
		return one(warn(name, err.Error()+": its files are not examined", asRoot(x)))
	case err != nil:
		return one(fail(name, err.Error(), "see ls -ld "+dir))
	case !info.IsDir():
		return one(fail(name, dir+" is not a folder", "name another with --data or data"))
	}
	at, above := notEntered(x, filepath.Dir(dir))
	closed := closedFiles(x, dir)
	switch {
	case !x.user.May(info, machineuser.Read|machineuser.Write|machineuser.Enter):
		return one(closedFinding(x, name, dir, []closedFile{{dir, info, machineuser.Read | machineuser.Write | machineuser.Enter}}))
	case above != nil:
		return one(fail(name, shutSeen(x, at, above), shutFix(x, at)+", then "+x.restart()))
	case len(closed) > 0:
		return one(closedFinding(x, name, dir, closed))
	case info.Mode().Perm()&0o007 != 0:
		return one(warn(name, fmt.Sprintf("%s is open to everybody (%s), and the database has keys in it", dir, info.Mode()), "sudo chmod 700 "+dir))
	}
	seen := "no database yet"
	if db, err := os.Stat(filepath.Join(dir, backup.DatabaseName)); err == nil {
		seen = "database of " + size(uint64(db.Size()))
	}
	return one(good(name, "%s %s, %s", dir, info.Mode(), seen))
}

// shutOut says whether the file of the service names a folder in which it may write nothing.
func shutOut(x *examination) bool {
	if x.Config == nil {
		return false
	}
	at, named := x.Config.Origin("data")
	return named && at.Line > 0 && x.ConfigFlag == "" && !x.simulated() && x.Service.shuts(x.Config.Data)
}

// unmade says whether the gateway can make its data folder.
func unmade(x *examination, name, dir string) Finding {
	seen, above := dir+" is not there yet", x.existing()
	info, err := os.Stat(above)
	if byService := x.Service.Loaded && dir == config.Default().Data; err == nil && !byService && !x.user.May(info, machineuser.Write|machineuser.Enter) {
		return fail(name, fmt.Sprintf("%s, and %s (%s) may not be written by %s, as which the gateway runs", seen, above, info.Mode(), x.user.Name),
			"sudo install -d -m 700 -o "+x.user.Name+" "+dir+", or name another folder with --data or data")
	}
	return warn(name, seen, "it is made at the first start; the service makes it as its StateDirectory")
}

// mount is where a folder lies, as /proc/self/mountinfo has it (proc(5)).
type mount struct {
	point, kind, source, options string // options: of the mount, then of the file system
}

// disk examines the file system of the data folder.
func disk(_ context.Context, x *examination) []Finding {
	const name = "disk"
	dir := x.existing()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return one(fail(name, dir+": "+err.Error(), "run sudo dmesg"))
	}
	m := x.mountOf(dir)
	free := st.Bavail * uint64(st.Bsize)
	seen := fmt.Sprintf("%s free of %s on %s (%s)", size(free), size(st.Blocks*uint64(st.Bsize)), m.point, m.kind)
	switch {
	case st.Flags&unix.ST_RDONLY != 0 || m.refuses():
		return one(fail(name, seen+", read only", "run sudo dmesg for why: a card that turns read only is worn out or pulled during a write"))
	case free < noDisk:
		return one(fail(name, seen, "make room: run sudo du -x -h -d1 "+m.point))
	case m.fleeting() && !x.simulated():
		return one(warn(name, seen+", which a power cut empties", "put the data folder on a disk with --data or data"))
	case free < littleDisk:
		return one(warn(name, seen, "make room: run sudo du -x -h -d1 "+m.point))
	case m.kind == "vfat" || m.kind == "exfat" || strings.HasPrefix(m.kind, "nfs"):
		return one(warn(name, seen+", which does not keep what was acknowledged through a power cut", "put the data folder on ext4"))
	case x.fastCommit(m):
		return one(fail(name, seen+" with fast_commit, which loses acknowledged writes in a power cut",
			"sudo tune2fs -O ^fast_commit "+m.source+" while it is not mounted"))
	}
	return one(good(name, "%s", seen))
}

// folderOf is the data folder that the command or else the configuration names; empty: neither does.
func folderOf(x *examination) string {
	if x.Data == "" && x.Config != nil {
		return x.Config.Data
	}
	return x.Data
}

// existing is the data folder, or what there is above it.
func (x *examination) existing() string {
	dir := cmp.Or(folderOf(x), x.Root)
	if x.Data == "" && x.Building != nil && x.Building.Folder != "" {
		dir = x.Building.Folder
	}
	for dir != "/" && dir != "." {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// mountOf is the last mount whose point is a parent of dir.
func (x *examination) mountOf(dir string) (found mount) {
	found = mount{point: dir, kind: "unknown file system"}
	longest := 0
	for line := range strings.Lines(x.read("proc/self/mountinfo")) {
		before, after, _ := strings.Cut(line, " - ")
		f, rest := strings.Fields(before), strings.Fields(after)
		if len(f) < 6 || len(rest) < 2 {
			continue
		}
		point := strings.ReplaceAll(f[4], `\040`, " ")
		if (point == "/" || dir == point || strings.HasPrefix(dir, point+"/")) && len(point) >= longest {
			longest = len(point)
			found = mount{point, rest[0], rest[1], strings.Join(append(f[5:6:6], rest[2:]...), ",")}
		}
	}
	return found
}

// refuses says whether it takes no writes: an ext4 that the kernel stopped is still mounted rw (kernel,
// fs/ext4/super.c, _ext4_show_options).
func (m mount) refuses() bool {
	return slices.ContainsFunc(strings.Split(m.options, ","), func(o string) bool { return o == "ro" || o == "emergency_ro" || o == "shutdown" })
}

// fleeting says whether the file system lives in memory.
func (m mount) fleeting() bool { return m.kind == "tmpfs" || m.kind == "ramfs" || m.kind == "overlay" }

// fastCommit reads the feature from the superblock of ext4 (kernel,
// Documentation/filesystems/ext4/super.rst: s_magic at 0x38,
// s_feature_compat at 0x5c, FAST_COMMIT 0x400). Only root may; what cannot be
// read is not claimed.
func (x *examination) fastCommit(m mount) bool {
	if m.kind != "ext4" || !strings.HasPrefix(m.source, "/dev/") {
		return false
	}
	f, err := os.Open(x.path(m.source))
	if err != nil {
		return false
	}
	defer f.Close()
	var block [0x60]byte
	if _, err := f.ReadAt(block[:], 1024); err != nil {
		return false
	}
	magic := binary.LittleEndian.Uint16(block[0x38:])
	return magic == 0xef53 && binary.LittleEndian.Uint32(block[0x5c:])&0x400 != 0
}

// database says what a repair has found, until somebody has looked, and whether it is damaged again.
func database(_ context.Context, x *examination) []Finding {
	const name = "database"
	var r *health.Repair
	if x.Building != nil {
		r = x.Building.StoreRepair
	}
	if r == nil {
		return nil
	}
	if r.Headless && r.Rows+r.Older == 0 {
		return one(nothingLeft(r, name))
	}
	seen := fmt.Sprintf("%s %s as they were, %s of an earlier state, %s unreadable", repairedWhen(r),
		count(r.Rows, "row"), count(r.Older, "row"), count(r.Lost, "row"))
	switch {
	case r.Headless:
		seen += "; the last changes before it may be missing anywhere"
	case r.Unknown > 0:
		seen += "; others may be missing from " + strings.Join(r.Tables, ", ")
	case len(r.Tables) > 0:
		seen += "; not whole: " + strings.Join(r.Tables, ", ")
	}
	if r.Pending {
		return one(fail(name, seen, "mend the disk, see the other findings: the gateway starts again by itself within 4 minutes once the disk takes a repair"))
	}
	todo := "look whether bookings, keys and codes are right, then sudo roomgate store confirm; a card that damages data wears out: replace it"
	if r.SetAside != "" {
		todo = "see what is in the old file with sudo roomgate store read " + r.SetAside + ", " + todo
	}
	return one(fail(name, seen, todo))
}

// nothingLeft is the finding of a database of which no row could be read.
func nothingLeft(r *health.Repair, name string) Finding {
	if r.Pending {
		return fail(name, "nothing of the damaged database can be read: bookings, keys, codes and events are not there",
			"mend the disk, see the other findings: the gateway starts again by itself within 4 minutes once the disk takes a repair; or restore a backup")
	}
	return fail(name, "nothing of the damaged database could be read on "+r.At.Format("2006-01-02 15:04")+", and an empty one took its place: bookings, keys, codes and events are lost",
		"restore a backup, or make them again, then sudo roomgate store confirm; a card that damages data wears out: replace it")
}

// repairedWhen says when the database was repaired, or that it is not yet.
func repairedWhen(r *health.Repair) string {
	if r.Pending {
		return "it could not be opened as usual, and nothing of it is repaired yet: in memory are"
	}
	return "it was damaged and repaired on " + r.At.Format("2006-01-02 15:04") + ":"
}
