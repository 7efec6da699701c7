// Package seed is the first start of a gateway: a file on the boot partition of
// its card becomes its configuration, and lists of gateways become such files.
//
// # Why
//
// The boot partition is FAT: every computer can write it, and everybody who has
// the card in hand can read it. So the seed lies there until the first start
// and no longer. It is taken in an order in which a power cut leaves the old
// configuration or the new one, and in which the seed stays until the new one
// is whole: the passwords in files of their own, the configuration, then the
// seed is renamed, blanked and written again without them.
//
// Blanked is what the file system gives back: the same sectors are overwritten
// before anything else goes there. A flash card may keep the old page where no
// computer reads it, until its controller erases it; who takes the chips apart
// may find it. Passwords that must not be found so are given by setup instead.
package seed

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"roomgate/agent/atomicfile"
	"roomgate/agent/setup"
)

// Name is the file on the boot partition, Done what it is called once it was
// taken.
const (
	Name = "roomgate-seed.yaml"
	Done = Name + ".done"
)

// maxSeed bounds a seed in bytes.
const maxSeed = 1 << 20

// header begins a seed that was taken and scrubbed.
const header = "# roomgate: this seed was taken; passwords and comments are removed\n"

// Folders are where the boot partition is below the root: of Raspberry Pi OS since
// Bookworm, and before.
func Folders() []string { return []string{"boot/firmware", "boot"} }

// IsBoot says whether a folder is the boot partition of a card: the firmware of a Raspberry
// Pi reads config.txt there, its kernel cmdline.txt, and UEFI what is in EFI.
func IsBoot(folder string) bool {
	return slices.ContainsFunc([]string{"config.txt", "cmdline.txt", "user-data", "EFI"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err == nil
	})
}

var nearlySeed = regexp.MustCompile(`(?i)^roomgate[-_ ]?seed.*\.(ya?ml|txt)$`)

// Misnamed is a file of a folder that somebody meant as a seed, as an editor has named
// it that adds .txt to a text; empty: there is none.
func Misnamed(folder string) string {
	all, _ := os.ReadDir(folder) // a machine without one has no seed
	for _, entry := range all {
		if nearlySeed.MatchString(entry.Name()) && entry.Name() != Name {
			return filepath.Join(folder, entry.Name())
		}
	}
	return ""
}

// Find is the boot partition below root. Empty: there is none with a seed, or with
// what somebody meant as one.
func Find(root string) string {
	for _, folder := range Folders() {
		folder = filepath.Join(root, folder)
		if Misnamed(folder) != "" {
			return folder
		}
		for _, name := range []string{Name, Done} {
			if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
				return folder
			}
		}
	}
	return ""
}

// Take makes the seed in a folder the configuration. Without a seed the plan
// is nil. Its mistakes are *config.Errors, and then nothing changes.
// Called again after a power cut it goes on where it was.
func Take(folder string, o setup.Options, group int) (*setup.Plan, error) {
	path := filepath.Join(folder, Name)
	if err := finish(filepath.Join(folder, Done)); err != nil {
		return nil, err
	}
	data, err := read(path)
	if other := Misnamed(folder); errors.Is(err, fs.ErrNotExist) && other != "" {
		return nil, fmt.Errorf("%s is no name of a seed: name it %s on the card, and switch on again", other, Name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read seed: %w", err)
	}
	o.FromScratch = true
	plan, err := setup.Prepare(path, data, o)
	if err != nil {
		return nil, err
	}
	if err := plan.Write(group); err != nil {
		return nil, err
	}
	if err := scrub(folder, data); err != nil {
		return plan, fmt.Errorf("the configuration is written, but its passwords are still on the boot partition: %w: remove %s yourself", err, path)
	}
	return plan, nil
}

func read(path string) ([]byte, error) {
	data, err := atomicfile.Read(path, unix.O_NOFOLLOW, maxSeed)
	// Windows begins a text with a mark, and ends its lines with two letters.
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	return data, err
}

// scrub renames the seed, so that it is not taken again, and takes the secrets
// out of it.
func scrub(folder string, data []byte) error {
	done := filepath.Join(folder, Done)
	if err := os.Rename(filepath.Join(folder, Name), done); err != nil {
		return err
	}
	if err := atomicfile.Sync(folder); err != nil {
		return err
	}
	return overwrite(done, setup.Scrub(data))
}

// finish scrubs a seed that a power cut left renamed and not yet scrubbed.
// Its rest may be half of a text, so nothing of it is kept.
func finish(done string) error {
	data, err := atomicfile.Read(done, unix.O_NOFOLLOW, int64(len(header)))
	if errors.Is(err, fs.ErrNotExist) || bytes.HasPrefix(data, []byte(header)) {
		return nil
	}
	if err != nil {
		return err
	}
	return overwrite(done, nil)
}

// overwrite blanks a file where it lies and then writes it again, as long as it
// was. The header is there only when the blanks are on the disk.
func overwrite(path string, text []byte) (err error) {
	f, err := atomicfile.Open(path, os.O_WRONLY|unix.O_NOFOLLOW)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	blanks := bytes.Repeat([]byte("\n"), int(info.Size()))
	text = append([]byte(header), text...)
	if pad := len(blanks) - len(text); pad > 0 {
		text = append(text, strings.Repeat("\n", pad)...)
	}
	for _, b := range [][]byte{blanks, text} {
		if _, err := f.WriteAt(b, 0); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}
