// Package machineuser knows the users of a machine, and what a user may do with a file, as passwd(5), group(5) and proc(5) say
// it. It asks for no user of its own process, so that root may ask for another.
package machineuser

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// User is a user of the machine.
type User struct {
	Name   string
	ID     int
	Group  int // its own, one of Groups
	Groups []int
}

// The rights on a file, as its mode has them.
const (
	Read  fs.FileMode = 4
	Write fs.FileMode = 2
	Enter fs.FileMode = 1 // a folder
)

// May says whether the user has all the rights wanted. Without an owner of the file it says yes.
func (u User) May(info fs.FileInfo, want fs.FileMode) bool {
	mode := info.Mode().Perm()
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case u.ID == 0 || !ok:
		return true
	case int(st.Uid) == u.ID:
		mode >>= 6
	case slices.Contains(u.Groups, int(st.Gid)):
		mode >>= 3
	}
	return mode&want == want
}

// OwnerOf is the number of the user who owns a file.
func OwnerOf(info fs.FileInfo) (id int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// Files read a file of the machine, as "etc/passwd", and answer with nothing where there is none.
type Files func(name string) string

// Find is the first user of /etc/passwd that is wanted, with the groups of /etc/group.
func (read Files) Find(wanted func(name, id string) bool) (User, bool) {
	for line := range strings.Lines(read("etc/passwd")) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || !wanted(f[0], f[2]) {
			continue
		}
		id, err1 := strconv.Atoi(f[2])
		group, err2 := strconv.Atoi(f[3])
		if err1 == nil && err2 == nil {
			return User{f[0], id, group, append(read.memberships(f[0]), group)}, true
		}
	}
	return User{}, false
}

// Named is the user of that name.
func (read Files) Named(name string) (User, bool) {
	return read.Find(func(n, _ string) bool { return n == name })
}

// Numbered is the user of that number.
func (read Files) Numbered(id int) (User, bool) {
	return read.Find(func(_, n string) bool { return n == strconv.Itoa(id) })
}

// OfProcess is the user of a process.
func (read Files) OfProcess(process int) (User, bool) {
	u := User{ID: -1, Group: -1}
	for line := range strings.Lines(read(fmt.Sprintf("proc/%d/status", process))) {
		key, rest, _ := strings.Cut(line, ":")
		ids := numbers(rest)
		switch {
		case key == "Uid" && len(ids) > 1:
			u.ID = ids[1] // the effective one
		case key == "Gid" && len(ids) > 1:
			u.Group = ids[1]
			u.Groups = append(u.Groups, ids[1])
		case key == "Groups":
			u.Groups = append(u.Groups, ids...)
		}
	}
	u.Name = read.NameOf(u.ID)
	return u, u.ID >= 0
}

// NameOf is the name of a user, or its number.
func (read Files) NameOf(id int) string {
	if u, ok := read.Numbered(id); ok {
		return u.Name
	}
	return strconv.Itoa(id)
}

// GroupName is the name of a group, or its number.
func (read Files) GroupName(id int) string {
	for line := range strings.Lines(read("etc/group")) {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == strconv.Itoa(id) {
			return f[0]
		}
	}
	return strconv.Itoa(id)
}

func (read Files) memberships(name string) (ids []int) {
	for line := range strings.Lines(read("etc/group")) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || !slices.Contains(strings.Split(f[3], ","), name) {
			continue
		}
		if id, err := strconv.Atoi(f[2]); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func numbers(s string) (all []int) {
	for _, f := range strings.Fields(s) {
		if n, err := strconv.Atoi(f); err == nil {
			all = append(all, n)
		}
	}
	return all
}
