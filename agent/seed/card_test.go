package seed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the boot partitions of real images hold, as the documents named at Package say.
const (
	// pi-gen, stage1/00-boot-files, branches bookworm and trixie.
	bookwormLine = "console=serial0,115200 console=tty1 root=PARTUUID=4e639091-02 rootfstype=ext4 fsck.repair=yes rootwait quiet init=/usr/lib/raspberrypi-sys-mods/firstboot"
	trixieLine   = "console=serial0,115200 console=tty1 root=PARTUUID=4e639091-02 rootfstype=ext4 fsck.repair=yes rootwait resize"
	// rpi-imager, src/downloadthread.cpp and src/customization_generator.cpp.
	imagerRun    = " systemd.run=/boot/firstrun.sh systemd.run_success_action=reboot systemd.unit=kernel-command-line.target"
	imagerScript = "#!/bin/sh\n\nset +e\n\nsystemctl enable ssh\nrm -f /boot/firstrun.sh\nsed -i 's| systemd.run.*||g' /boot/cmdline.txt\nexit 0\n"
	imagerData   = "#cloud-config\nhostname: house-3\nusers:\n- name: installer\n\nruncmd:\n  - [ rfkill, unblock, wifi ]\n  - [ sh, -c, \"true\" ]\n"
	// pi-gen, stage2/04-cloud-init/files: every key is a comment.
	stockData = "#cloud-config\n\n# Some examples:\n#runcmd:\n#- [ ls, -l, / ]\n"
)

const ours = "[ sh, /boot/firmware/roomgate-install.sh ]"

// partition makes a boot partition and a package to bring there.
func partition(t *testing.T, files map[string]string) (folder, deb string) {
	t.Helper()
	folder, deb = t.TempDir(), filepath.Join(t.TempDir(), "roomgate_1.2.0~rc1+4.gabc_arm64.deb")
	files[deb] = "!<arch>\ndebian-binary   1700000000  0     0     100644  4         `\n"
	for name, text := range files {
		if name != deb {
			name = filepath.Join(folder, name)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, deb
}

// TestPackageOnRealLayouts: each system gets the line where it reads it, and keeps
// everything that was there.
func TestPackageOnRealLayouts(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  File
	}{
		{"Bookworm as downloaded", map[string]string{"cmdline.txt": bookwormLine + "\r\n"},
			File{"cmdline.txt", []byte(bookwormLine + " systemd.run=/boot/firmware/roomgate-install.sh systemd.run_success_action=reboot systemd.unit=kernel-command-line.target\n")}},
		{"Bookworm by the Imager", map[string]string{"cmdline.txt": bookwormLine + imagerRun, "firstrun.sh": imagerScript},
			File{"firstrun.sh", []byte(strings.Replace(imagerScript, "\n", "\nsh /boot/firmware/roomgate-install.sh\n", 1))}},
		{"Trixie as downloaded", map[string]string{"cmdline.txt": trixieLine, "meta-data": "instance_id: rpios-image\n", "network-config": "", "user-data": stockData},
			File{"user-data", []byte(stockData + "\nruncmd:\n  - " + ours + "\n")}},
		{"Trixie by the Imager", map[string]string{"cmdline.txt": trixieLine, "meta-data": "instance-id: rpi-imager-1\n", "user-data": imagerData},
			File{"user-data", []byte(strings.Replace(imagerData, "  - [ rfkill", "  - "+ours+"\n  - [ rfkill", 1))}},
		{"a list without indent", map[string]string{"user-data": "#cloud-config\nruncmd:\n- echo a\nssh_pwauth: true\n"},
			File{"user-data", []byte("#cloud-config\nruncmd:\n- " + ours + "\n- echo a\nssh_pwauth: true\n")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder, deb := partition(t, c.files)
			for range 2 { // the second time changes nothing
				got, err := Package(folder, deb)
				if err != nil {
					t.Fatal(err)
				}
				if last := got[2]; last.Name != c.want.Name || string(last.Data) != string(c.want.Data) {
					t.Errorf("%s is\n%s\nwant %s\n%s", last.Name, last.Data, c.want.Name, c.want.Data)
				}
				if got[0].Name != filepath.Base(deb) || got[1].Name != Installer || !strings.Contains(string(got[1].Data), "dpkg --install "+filepath.Base(deb)+" ") {
					t.Errorf("beside it are %s and %s:\n%s", got[0].Name, got[1].Name, got[1].Data)
				}
				for _, f := range got {
					if err := os.WriteFile(filepath.Join(folder, f.Name), f.Data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// TestPackageRefuses what would start nothing, with the next step.
func TestPackageRefuses(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		deb   string
		want  string
	}{
		{map[string]string{}, "", "neither user-data nor cmdline.txt: mount the card's first partition, or leave --package out"},
		{map[string]string{"cmdline.txt": bookwormLine}, "/tmp/other_1_arm64.deb", "is no package of roomgate: name one as make deb makes it"},
		{map[string]string{"cmdline.txt": bookwormLine}, "/no/roomgate_1_arm64.deb", "no such file"},
		{map[string]string{"cmdline.txt": "a\nb\n"}, "", "it is not one line"},
		{map[string]string{"user-data": "runcmd: []\n"}, "", "does not begin with #cloud-config"},
		{map[string]string{"user-data": "#cloud-config\nruncmd: [ls]\n"}, "", "line 2: runcmd is not a list of lines"},
		{map[string]string{"user-data": "#cloud-config\nruncmd:\n"}, "", "line 2: runcmd is not a list of lines"},
		{map[string]string{"user-data": "#cloud-config\na: [\n"}, "", "user-data: "},
		{map[string]string{"firstrun.sh": "echo"}, "", "does not begin with #!"},
	} {
		folder, deb := partition(t, c.files)
		if c.deb != "" {
			deb = c.deb
		}
		if got, err := Package(folder, deb); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v, want %s", c.files, got, err, c.want)
		}
	}
	folder, deb := partition(t, map[string]string{"cmdline.txt": bookwormLine})
	if err := os.WriteFile(deb, []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Package(folder, deb); err == nil || !strings.Contains(err.Error(), "is no package of Debian: copy it again") {
		t.Error(err)
	}
}
