package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"roomgate/agent/backup"
	"roomgate/agent/devicesecret"
	"roomgate/agent/machineuser"
	"roomgate/agent/tlsauthority"
)

// ownNames begin the names of what the gateway keeps in its data folder. It opens nothing
// else that lies there.
var ownNames = []string{backup.DatabaseName, devicesecret.File, "control.lock", backup.NoteName, tlsauthority.Dir, releases}

// writtenNames are the files that the gateway opens for writing. It reads the others, or puts
// new ones in their place.
var writtenNames = []string{backup.DatabaseName, backup.DatabaseName + ".lock", backup.DatabaseName + ".reserve", "control.lock"}

// manyFiles is from how many on a fix names the data folder in place of each file.
const manyFiles = 4

// closedFile is a file or folder that the gateway cannot use, and the rights that it needs.
type closedFile struct {
	path string
	info fs.FileInfo
	want fs.FileMode
}

// closedFiles are those of the data folder that the gateway's user cannot use.
func closedFiles(x *examination, dir string) (all []closedFile) {
	entries, _ := os.ReadDir(dir) // who may not list them is not told of them
	for _, e := range entries {
		own := slices.ContainsFunc(ownNames, func(name string) bool { return strings.HasPrefix(e.Name(), name) })
		if own && e.Name() != devicesecret.File+".before" { // that one waits for a person
			all = append(all, closedBelow(x, filepath.Join(dir, e.Name()))...)
		}
	}
	return all
}

// closedBelow looks at a file, or at a folder with what is in it.
func closedBelow(x *examination, path string) (all []closedFile) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // it is just being replaced
	}
	want := machineuser.Read
	switch {
	case info.IsDir():
		want = machineuser.Read | machineuser.Write | machineuser.Enter
	case !info.Mode().IsRegular():
		return nil
	case slices.Contains(writtenNames, filepath.Base(path)):
		want = machineuser.Read | machineuser.Write
	}
	if !x.user.May(info, want) {
		return []closedFile{{path, info, want}}
	}
	if info.IsDir() {
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			all = append(all, closedBelow(x, filepath.Join(path, e.Name()))...)
		}
	}
	return all
}

// may words the rights that are wanted.
func (f closedFile) may() string {
	if f.want&machineuser.Write != 0 {
		return "read and written"
	}
	return "read"
}

// closedFinding names files that the gateway cannot use, and the commands that give them to it.
func closedFinding(x *examination, name, dir string, all []closedFile) Finding {
	first := all[0]
	seen := fmt.Sprintf("%s (%s, owner %s) may not be %s by %s, as which the gateway runs", first.path, first.info.Mode(), ownerOf(x, first.info), first.may(), x.user.Name)
	if more := len(all) - 1; more > 0 {
		seen += "; nor may " + count(more, "other file")
	}
	recursive, paths := "", []string(nil)
	var commands []string
	narrow := false
	for _, f := range all {
		paths = append(paths, f.path)
		narrow = narrow || f.info.Mode().Perm()>>6&f.want != f.want
		if f.info.IsDir() {
			recursive = "-R "
		}
	}
	if len(all) >= manyFiles {
		recursive, paths = "-R ", []string{dir}
	}
	on := strings.Join(paths, " ")
	if slices.ContainsFunc(all, func(f closedFile) bool { return ownerOf(x, f.info) != x.user.Name }) {
		commands = append(commands, "sudo chown "+recursive+x.user.Name+": "+on)
	}
	if narrow {
		commands = append(commands, "sudo chmod "+recursive+"u+rwX "+on)
	}
	return fail(name, seen, strings.Join(commands, " && ")+", then "+x.restart())
}

// ownerOf is the name of who owns a file.
func ownerOf(x *examination, info fs.FileInfo) string {
	if id, ok := machineuser.OwnerOf(info); ok {
		return x.machineUsers().NameOf(id)
	}
	return "unknown"
}
