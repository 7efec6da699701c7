package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDUJ+UVYuRMc2tzTV2HwsSZk2qRjaot82F2/zRf1toAS installer"

// imageBuild runs systemd/image/build, which takes everybody for root and finds
// the programs of a list.
func imageBuild(t *testing.T, programs []string, args ...string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range append(programs, "bash", "sed", "tr", "tar", "dirname", "head") {
		path, err := findProgram(name)
		if err != nil {
			t.Skipf("%s is not there: apt install mmdebstrap qemu-user-static e2fsprogs fdisk dosfstools mtools", name)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "id"), []byte("#!/bin/sh\necho 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", append([]string{filepath.Join(root, "systemd/image/build")}, args...)...)
	cmd.Env = []string{"PATH=" + bin, "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// findProgram also looks where those are that only root needs.
func findProgram(name string) (path string, err error) {
	for _, folder := range []string{"", "/usr/sbin/", "/sbin/"} {
		if path, err = exec.LookPath(folder + name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// debianTar is as much of a Debian as the script needs to see.
func debianTar(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range append(files, "./etc/machine-id", "./usr/lib/grub/arm64-efi-signed/grubaa64.efi.signed") {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 4, Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte("test")) // Close says whether it failed
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return written(t, "root.tar", b.String())
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What would let in nobody, or the wrong ones, is said before a Debian is made.
func TestImageRefuses(t *testing.T) {
	t.Parallel()
	const goesOn = "mmdebstrap is not there"
	rsa := "ssh-rsa AAAA" + strings.Repeat("B3NzaC1yc2E", 30) + "=="
	plain, server := debianTar(t), debianTar(t, "./usr/sbin/sshd")
	for name, c := range map[string]struct{ keys, kept, want string }{
		"a key":                          {publicKey + "\n", "", goesOn},
		"without an end of line":         {publicKey, "", goesOn},
		"made on Windows":                {publicKey + "\r\n\r\n", "", goesOn},
		"several":                        {"# us\n\n" + publicKey + "\n" + `from="192.0.2.*" ` + rsa + " a b\n", "", goesOn},
		"a private key":                  {"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", "", "is a private key: name the public one"},
		"nothing":                        {"", "", "has no public key"},
		"only a remark":                  {"# " + publicKey + "\n", "", "has no public key"},
		"half of one":                    {publicKey + "\n" + publicKey[:40] + "\n", "", "keys:2 is no public key"},
		"of another kind":                {"ssh-dss AAAA" + strings.Repeat("B3NzaC1kc3M", 30), "", "keys:1 is no public key"},
		"a Debian with a server":         {publicKey, server, goesOn},
		"a Debian without":               {publicKey, plain, "was made without -a and has no SSH server"},
		"a Debian that is not there yet": {publicKey, "/nowhere/root.tar", goesOn},
		"no key for a server":            {"none", server, "was made with -a and has an SSH server"},
		"no key for none":                {"none", plain, goesOn},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"/nowhere/disk"}
			if c.kept != "" {
				args = append([]string{"-r", c.kept}, args...)
			}
			if c.keys != "none" {
				args = append([]string{"-a", written(t, "keys", c.keys)}, args...)
			}
			if out, err := imageBuild(t, nil, args...); err == nil || !strings.Contains(out, c.want) {
				t.Errorf("%v: %s, want %q", err, out, c.want)
			}
		})
	}
	for _, file := range []string{"", "/nowhere/keys", t.TempDir()} {
		if out, err := imageBuild(t, nil, "-a", file, "/nowhere/disk"); err == nil || strings.Contains(out, goesOn) || !strings.Contains(out, "public keys") {
			t.Errorf("-a %q: %v: %s", file, err, out)
		}
	}
}

// Who has a key comes in, by nothing else; without -a nothing of it is there.
func TestImageLetsIn(t *testing.T) {
	t.Parallel()
	tools := strings.Fields("mmdebstrap qemu-aarch64-static mke2fs sfdisk mkfs.vfat mmd mcopy mktemp rm mkdir cp cat install truncate dd")
	debugfs, err := findProgram("debugfs")
	if err != nil {
		t.Skip("debugfs is not there: apt install e2fsprogs")
	}
	keys := written(t, "keys", publicKey+"\r\n")
	for _, c := range []struct {
		args []string
		with bool
	}{{[]string{"-r", debianTar(t, "./usr/sbin/sshd"), "-a", keys}, true}, {[]string{"-r", debianTar(t)}, false}} {
		disk := filepath.Join(t.TempDir(), "disk")
		if out, err := imageBuild(t, tools, append(c.args, disk)...); err != nil {
			t.Fatalf("%v: %v\n%s", c.args, err, out)
		}
		look := func(what string) string {
			out, _ := exec.Command(debugfs, "-R", what, fmt.Sprintf("%s?offset=%d", disk, 65<<20)).Output() // what is not there is said
			return string(out)
		}
		for what, want := range map[string]string{
			"cat /root/.ssh/authorized_keys":                  publicKey + "\n",
			"stat /root/.ssh/authorized_keys":                 "Mode:  0600",
			"stat /root/.ssh":                                 "Mode:  0700",
			"cat /etc/ssh/sshd_config.d/roomgate.conf":        "\nPasswordAuthentication no\n",
			"cat /etc/systemd/system/ssh.service.d/keys.conf": "\nExecStartPre=\nExecStartPre=/usr/bin/ssh-keygen -A\n",
		} {
			if got := look(what); strings.Contains(got, want) != c.with {
				t.Errorf("%v: %s: %q", c.args, what, got)
			}
		}
		if got := look("ls -p /etc"); !strings.Contains(got, "machine-id") {
			t.Errorf("%v: the disk cannot be looked into: %q", c.args, got)
		}
	}
}
