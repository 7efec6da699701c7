package seed

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
	"golang.org/x/sys/unix"

	"roomgate/agent/atomicfile"
)

// Installer is the script beside the seed that installs the package at the first start
// of a card, and Installed what it says.
const (
	Installer = "roomgate-install.sh"
	Installed = "roomgate-install.txt"
)

// boot is where Raspberry Pi OS has the boot partition since Bookworm
// (https://github.com/RPi-Distro/pi-gen, stage1/00-boot-files/00-run.sh).
const boot = "/boot/firmware/"

// systemdRun lets systemd run the script instead of everything else, and start again
// (systemd-run-generator(8)). The Imager ends a Bookworm's cmdline.txt with the same for
// its own firstrun.sh (https://github.com/raspberrypi/rpi-imager, src/downloadthread.cpp).
const systemdRun = " systemd.run=" + boot + Installer + " systemd.run_success_action=reboot systemd.unit=kernel-command-line.target"

// installer is the script. Whatever comes of it, the card starts as usual the next time.
const installer = `#!/bin/sh
# Installs the package beside this file at the first start, see roomgate image seed --help.
# The gateway then takes the seed that lies here too.
cd ` + boot + ` || exit 0
sed -i 's|` + systemdRun + `||' cmdline.txt
if dpkg --install PACKAGE >` + Installed + ` 2>&1; then
	rm ` + Installer + `
else
	cat ` + Installed + ` >/dev/tty1
	sleep 60
fi
sync
exit 0
`

// packageName is what a shell, a kernel and a FAT take as one word.
var packageName = regexp.MustCompile(`^roomgate_[0-9A-Za-z.+~-]+_[0-9a-z]+\.deb$`)

// File is a file of a boot partition.
type File struct {
	Name string
	Data []byte
}

// maxPackage bounds a package, in bytes.
const maxPackage = 256 << 20

// Package are the files with which the system on a card installs a package of Debian at
// its first start, in the order in which they are written: what starts it comes last. The
// folder is the boot partition of Raspberry Pi OS in one of three layouts:
//
//   - Trixie reads user-data by cloud-init, which has its seed there
//     (https://www.raspberrypi.com/news/cloud-init-on-raspberry-pi-os; pi-gen,
//     stage2/04-cloud-init: seedfrom file:///boot/firmware). What stands in runcmd is run
//     once, at the first start, with or without a network
//     (https://cloudinit.readthedocs.io/en/latest/reference/modules.html#runcmd).
//   - Bookworm with what the Imager was asked for runs firstrun.sh, of which initramfs
//     keeps all above the line that removes it (RPi-Distro/raspberrypi-sys-mods,
//     initramfs-tools/scripts/local-bottom/imager_fixup).
//   - Bookworm as it was downloaded has cmdline.txt alone.
//
// A card that has started before ignores user-data: cloud-init has seen its instance.
func Package(folder, path string) ([]File, error) {
	name := filepath.Base(path)
	if !packageName.MatchString(name) {
		return nil, fmt.Errorf("%s is no package of roomgate: name one as make deb makes it, roomgate_VERSION_arm64.deb", path)
	}
	data, err := atomicfile.Read(path, os.O_RDONLY, maxPackage)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(data, []byte("!<arch>\ndebian-binary")) { // deb(5)
		return nil, fmt.Errorf("%s is no package of Debian: copy it again", path)
	}
	line, err := firstStart(folder)
	if err != nil {
		return nil, err
	}
	return []File{{name, data}, {Installer, []byte(strings.Replace(installer, "PACKAGE", name, 1))}, line}, nil
}

// firstStart is the file of a boot partition that says what a first start does, with the
// script in it.
func firstStart(folder string) (File, error) {
	for _, layout := range []struct {
		name string
		add  func(text string) (string, error)
	}{{"user-data", addToUserData}, {"firstrun.sh", addToFirstRun}, {"cmdline.txt", addToCommandLine}} {
		text, err := atomicfile.Read(filepath.Join(folder, layout.name), unix.O_NOFOLLOW, maxSeed)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return File{}, err
		}
		with := string(text)
		if !strings.Contains(with, boot+Installer) {
			if with, err = layout.add(with); err != nil {
				return File{}, fmt.Errorf("%s: %w", filepath.Join(folder, layout.name), err)
			}
		}
		return File{layout.name, []byte(with)}, nil
	}
	return File{}, fmt.Errorf("%s is no boot partition of Raspberry Pi OS, it has neither user-data nor cmdline.txt: mount the card's first partition, or leave --package out", folder)
}

// addToUserData makes the script the first of the commands. The others stay as
// they are, with their comments.
func addToUserData(text string) (string, error) {
	var doc yaml.Node
	if !strings.HasPrefix(text, "#cloud-config") {
		return "", errors.New("it does not begin with #cloud-config: write it as the Imager does")
	}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	command := "- [ sh, " + boot + Installer + " ]\n"
	at, commands := runcmd(&doc)
	if at == nil {
		return strings.TrimRight(text, "\r\n") + "\n\nruncmd:\n  " + command, nil
	}
	lines := strings.SplitAfter(text, "\n")
	first := commands.Line - 1
	indent, _, ok := strings.Cut(lines[first], "-")
	if !ok || commands.Kind != yaml.SequenceNode || len(indent) != commands.Column-1 {
		return "", fmt.Errorf("line %d: runcmd is not a list of lines: write each command on a line of its own, with \"- \" in front", at.Line)
	}
	return strings.Join(lines[:first], "") + indent + command + strings.Join(lines[first:], ""), nil
}

// runcmd finds the key and its list, nil if there is none.
func runcmd(doc *yaml.Node) (key, value *yaml.Node) {
	if len(doc.Content) == 0 {
		return nil, nil
	}
	all := doc.Content[0].Content
	for i := 0; i+1 < len(all); i += 2 {
		if all[i].Value == "runcmd" {
			return all[i], all[i+1]
		}
	}
	return nil, nil
}

// addToFirstRun lets the Imager's script begin with ours.
func addToFirstRun(text string) (string, error) {
	first, rest, ok := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "#!") || !ok {
		return "", errors.New("it does not begin with #!: write the card again")
	}
	return first + "\nsh " + boot + Installer + "\n" + rest, nil
}

// addToCommandLine adds to the one line that the kernel reads.
func addToCommandLine(text string) (string, error) {
	line := strings.TrimSpace(text)
	if line == "" || strings.Contains(line, "\n") {
		return "", errors.New("it is not one line: write the card again")
	}
	return line + systemdRun + "\n", nil
}
