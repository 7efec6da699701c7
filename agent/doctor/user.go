package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// serviceUser is the user of the packaged gateway.
const serviceUser = "roomgate"

// user is the one that the gateway runs as, or would.
type user struct {
	name   string
	id     int
	group  int // its own, one of groups
	groups []int
	why    string // how that is known
	self   bool   // it is who asks, for want of another
}

// findUser finds the user of the gateway: of the running gateway, else of the service, else the
// one who asks.
func (x *examination) findUser() user {
	if x.ProcessID > 0 {
		if u, ok := x.owner(x.ProcessID); ok {
			return u
		}
	}
	if u, ok := x.lookUp(func(name, _ string) bool { return name == serviceUser }); ok && x.ConfigFlag == "" { // which has its own file
		u.why = "the service's user"
		return u
	}
	if u, ok := ownerOfData(x); ok {
		return u
	}
	groups, _ := os.Getgroups()
	return user{x.nameOf(os.Getuid()), os.Getuid(), os.Getgid(), append(groups, os.Getgid()), "who runs this command", true}
}

// ownerOfData is the user whose data folder it is, where root asks for another gateway than the package's.
func ownerOfData(x *examination) (user, bool) {
	if x.Config == nil || !x.IsRoot {
		return user{}, false
	}
	info, err := os.Stat(x.Config.Data)
	if err != nil {
		return user{}, false
	}
	id, ok := owner(info)
	if !ok || id == 0 {
		return user{}, false
	}
	u, ok := x.lookUp(func(_, n string) bool { return n == strconv.Itoa(id) })
	u.why = "the owner of the data folder"
	return u, ok
}

// owner is the user of a process (proc(5), status).
func (x *examination) owner(process int) (user, bool) {
	u := user{id: -1, group: -1, why: "the running gateway's user"}
	for line := range strings.Lines(x.read(fmt.Sprintf("proc/%d/status", process))) {
		key, rest, _ := strings.Cut(line, ":")
		ids := numbers(rest)
		switch {
		case key == "Uid" && len(ids) > 1:
			u.id = ids[1] // the effective one
		case key == "Gid" && len(ids) > 1:
			u.group = ids[1]
			u.groups = append(u.groups, ids[1])
		case key == "Groups":
			u.groups = append(u.groups, ids...)
		}
	}
	u.name = x.nameOf(u.id)
	return u, u.id >= 0
}

func numbers(s string) (all []int) {
	for _, f := range strings.Fields(s) {
		if n, err := strconv.Atoi(f); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// lookUp finds a user in /etc/passwd with the groups of /etc/group.
func (x *examination) lookUp(wanted func(name, id string) bool) (user, bool) {
	for line := range strings.Lines(x.read("etc/passwd")) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || !wanted(f[0], f[2]) {
			continue
		}
		id, err1 := strconv.Atoi(f[2])
		group, err2 := strconv.Atoi(f[3])
		if err1 == nil && err2 == nil {
			return user{name: f[0], id: id, group: group, groups: append(x.memberships(f[0]), group)}, true
		}
	}
	return user{}, false
}

func (x *examination) memberships(name string) (ids []int) {
	for line := range strings.Lines(x.read("etc/group")) {
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

func (x *examination) nameOf(id int) string {
	u, ok := x.lookUp(func(_, n string) bool { return n == strconv.Itoa(id) })
	if !ok {
		return strconv.Itoa(id)
	}
	return u.name
}

// groupName is the name of a group, or its number.
func (x *examination) groupName(id int) string {
	for line := range strings.Lines(x.read("etc/group")) {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == strconv.Itoa(id) {
			return f[0]
		}
	}
	return strconv.Itoa(id)
}

// The rights on a file, as its mode has them.
const (
	mayRead  fs.FileMode = 4
	mayWrite fs.FileMode = 2
	mayEnter fs.FileMode = 1 // a folder
)

// may says whether the user has all the rights wanted.
func (u user) may(info fs.FileInfo, want fs.FileMode) bool {
	mode := info.Mode().Perm()
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case u.id == 0 || !ok:
		return true
	case int(st.Uid) == u.id:
		mode >>= 6
	case slices.Contains(u.groups, int(st.Gid)):
		mode >>= 3
	}
	return mode&want == want
}

// account says as which user the gateway runs.
func account(_ context.Context, x *examination) []Finding {
	var groups []string
	for _, id := range x.user.groups {
		groups = append(groups, x.groupName(id))
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	seen := fmt.Sprintf("%s (%d), groups %s: %s", x.user.name, x.user.id, strings.Join(groups, " "), x.user.why)
	if x.user.id == 0 && x.ProcessID > 0 && !x.simulated() {
		return one(warn("user", seen, "run the gateway as the user roomgate, as the packaged service does: root is not needed"))
	}
	return one(good("user", "%s", seen))
}

// join tells how the user gets a right on a file.
func (x *examination) join(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Gid == 0 || info.Mode().Perm()>>3&mayWrite == 0 {
		return udevRules(x)
	}
	return fmt.Sprintf("sudo usermod -aG %s %s, then %s", x.groupName(int(st.Gid)), x.user.name, x.restart())
}

// udevRules are the udev rules that give the gateway's groups their devices.
func udevRules(x *examination) string {
	const file = "usr/lib/udev/rules.d/60-roomgate.rules"
	if _, ok := x.exists(file); ok {
		return "sudo udevadm control --reload && sudo udevadm trigger, which lets /" + file + " take effect"
	}
	return "install the package roomgate, which brings udev rules for it"
}

// owner is the number of who owns a file.
func owner(info fs.FileInfo) (id int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
