package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"roomgate/agent/machineuser"
)

// serviceUser is the user of the packaged gateway.
const serviceUser = "roomgate"

// user is the one that the gateway runs as, or would.
type user struct {
	machineuser.User
	why  string // how that is known
	self bool   // it is who asks, for want of another
}

// findUser finds the user of the gateway: of the running gateway, else of the service, else the
// one who asks.
func (x *examination) findUser() user {
	if x.ProcessID > 0 {
		if u, ok := x.machineUsers().OfProcess(x.ProcessID); ok {
			return user{User: u, why: "the running gateway's user"}
		}
	}
	if u, ok := x.machineUsers().Named(serviceUser); ok && x.ConfigFlag == "" { // which has its own file
		return user{User: u, why: "the service's user"}
	}
	if u, ok := ownerOfData(x); ok {
		return u
	}
	groups, _ := os.Getgroups()
	own := machineuser.User{Name: x.machineUsers().NameOf(os.Getuid()), ID: os.Getuid(), Group: os.Getgid(), Groups: append(groups, os.Getgid())}
	return user{own, "who runs this command", true}
}

// machineUsers are the users of the machine.
func (x *examination) machineUsers() machineuser.Files { return x.read }

// ownerOfData is the user whose data folder it is, where root asks for another gateway than the package's.
func ownerOfData(x *examination) (user, bool) {
	if folderOf(x) == "" || !x.IsRoot {
		return user{}, false
	}
	info, err := os.Stat(folderOf(x))
	if err != nil {
		return user{}, false
	}
	id, ok := machineuser.OwnerOf(info)
	if !ok || id == 0 {
		return user{}, false
	}
	u, ok := x.machineUsers().Numbered(id)
	return user{User: u, why: "the owner of the data folder"}, ok
}

// runsAs says as which user the gateway runs.
func runsAs(_ context.Context, x *examination) []Finding {
	var groups []string
	for _, id := range x.user.Groups {
		groups = append(groups, x.machineUsers().GroupName(id))
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	seen := fmt.Sprintf("%s (%d), groups %s: %s", x.user.Name, x.user.ID, strings.Join(groups, " "), x.user.why)
	if x.user.ID == 0 && x.ProcessID > 0 && !x.simulated() {
		return one(warn("user", seen, "run the gateway as the user roomgate, as the packaged service does: root is not needed"))
	}
	return one(good("user", "%s", seen))
}

// join tells how the user gets a right on a file.
func (x *examination) join(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Gid == 0 || info.Mode().Perm()>>3&machineuser.Write == 0 {
		return udevRules(x)
	}
	return fmt.Sprintf("sudo usermod -aG %s %s, then %s", x.machineUsers().GroupName(int(st.Gid)), x.user.Name, x.restart())
}

// udevRules are the udev rules that give the gateway's groups their devices.
func udevRules(x *examination) string {
	const file = "usr/lib/udev/rules.d/60-roomgate.rules"
	if _, ok := x.exists(file); ok {
		return "sudo udevadm control --reload && sudo udevadm trigger, which lets /" + file + " take effect"
	}
	return "install the package roomgate, which brings udev rules for it"
}
