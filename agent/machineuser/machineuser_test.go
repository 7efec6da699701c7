package machineuser

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func machine(name string) string {
	return map[string]string{
		"etc/passwd":     "root:x:0:0::/root:/bin/sh\nbroken:x:1\nroomgate:x:997:996::/nonexistent:/usr/sbin/nologin\n",
		"etc/group":      "root:x:0:\nroomgate:x:996:\ngpio:x:101:pi,roomgate\nvideo:x:44:roomgate\ni2c:x:102:pi\n",
		"proc/77/status": "Name:\troomgate\nUid:\t0\t997\t997\t997\nGid:\t0\t996\t996\t996\nGroups:\t44 101 \n",
	}[name]
}

func TestUsersOfAMachine(t *testing.T) {
	m := Files(machine)
	u, ok := m.Named("roomgate")
	if !ok || u.ID != 997 || u.Group != 996 || !slices.Equal(u.Groups, []int{101, 44, 996}) {
		t.Errorf("roomgate is %+v", u)
	}
	if u, ok := m.Numbered(1); ok {
		t.Errorf("a line that is cut off is a user: %+v", u)
	}
	running, ok := m.OfProcess(77)
	if !ok || running.Name != "roomgate" || running.ID != 997 || !slices.Equal(running.Groups, []int{996, 44, 101}) {
		t.Errorf("the process is of %+v, want its effective user", running)
	}
	if u, ok := m.OfProcess(78); ok {
		t.Errorf("a process that there is not is of %+v", u)
	}
	for id, want := range map[int]string{997: "roomgate", 5: "5"} {
		if got := m.NameOf(id); got != want {
			t.Errorf("user %d is %q, want %q", id, got, want)
		}
	}
	for id, want := range map[int]string{101: "gpio", 5: "5"} {
		if got := m.GroupName(id); got != want {
			t.Errorf("group %d is %q, want %q", id, got, want)
		}
	}
}

func TestRightsOnAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := OwnerOf(info); !ok || id != os.Getuid() {
		t.Errorf("the file is of user %d", id)
	}
	member := User{ID: 4711, Groups: []int{os.Getgid()}}
	for name, c := range map[string]struct {
		user User
		want os.FileMode
		may  bool
	}{
		"its group reads":          {member, Read, true},
		"its group does not write": {member, Read | Write, false},
		"a stranger does not read": {User{ID: 4711}, Read, false},
		"root may all":             {User{}, Read | Write | Enter, true},
	} {
		if c.user.May(info, c.want) != c.may {
			t.Errorf("%s: want %v", name, c.may)
		}
	}
}
