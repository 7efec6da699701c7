package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"roomgate/agent/update"
)

// longWait is when a release waits for its moment for too long.
const longWait = 48 * time.Hour

// updates says which release runs and the outcome of the last update, as the
// running gateway knows it, else as its folder does.
func updates(_ context.Context, x *examination) []Finding {
	const name = "update"
	s, ok := x.updateStatus()
	if !ok {
		return nil
	}
	seen := strings.Join(s.Lines(), "; ")
	switch {
	case s.Damaged != "":
		return one(warn(name, seen, "install a release again with sudo roomgate update BUNDLE: that writes the note again"))
	case len(s.NotStarted) > 0:
		return one(warn(name, seen, "install its bundle once more, or a newer one, signed with a key that the package or update.keys names: sudo roomgate update BUNDLE"))
	case s.Fetch != nil && s.Fetch.Problem != "":
		return one(warn(name, seen, "see that the building's firewall lets https to that address pass, or bring the bundle on a stick: sudo roomgate update BUNDLE"))
	case s.Failed != nil:
		return one(warn(name, seen, "get a newer release, or mend what it failed for and try it again with sudo roomgate update --again BUNDLE"))
	case s.Refused != nil && s.Refused.URL != "": // else somebody was there and was told
		return one(warn(name, seen, refusalFix(s.Refused.Cause)))
	case s.Waits != "" && s.Since != nil && time.Since(*s.Since) > longWait:
		return one(warn(name, seen, "it has waited for "+days(time.Since(*s.Since))+": if nobody is disturbed, sudo roomgate update --now"))
	}
	return one(good(name, "%s", seen))
}

// releases is the folder of the releases in the data folder.
const releases = update.Dir

// updateStatus is how updates stand; false: there is nothing to say of them.
func (x *examination) updateStatus() (update.Status, bool) {
	switch {
	case x.Building != nil && x.Building.Update != nil:
		return *x.Building.Update, true
	case x.Building != nil || folderOf(x) == "":
		return update.Status{}, false
	}
	if _, err := os.Stat(filepath.Join(folderOf(x), update.Dir)); err != nil {
		return update.Status{}, false // none was ever installed, or that is not for us to see
	}
	s := update.New(folderOf(x), "", x.Schema, nil).Status()
	s.Keys = 1 // the gateway knows
	return s, true
}

// refusalFix is what to do about a bundle that the cloud wanted and that was not
// taken.
func refusalFix(c update.Cause) string {
	switch c {
	case update.NoKeys, update.WrongKey:
		return "set update.keys to the public half of the key that releases are signed with, restart, and let the cloud name the bundle at another address"
	case update.DiskFull:
		return "free space, see the finding disk: it is then fetched again by itself"
	case update.OtherMachine:
		return "let the cloud name the bundle for this machine"
	case update.Corrupt, update.NoBundle, update.NotThere:
		return "let the cloud name another address of the bundle, or bring it on a stick: sudo roomgate update BUNDLE"
	}
	return "let the cloud name a newer release"
}
