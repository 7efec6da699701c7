package update

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// stranger has a key that no gateway of these tests trusts.
var stranger = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))

// in is a path in the folder of releases.
func (r *Releases) in(parts ...string) string {
	return filepath.Join(append([]string{r.Dir}, parts...)...)
}

// put writes a file by hand, as who can write the data folder.
func put(t *testing.T, path string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.RemoveAll(path))
	must(t, os.WriteFile(path, data, 0o700))
}

// noted writes a state by hand.
func noted(t *testing.T, r *Releases, s State) {
	t.Helper()
	text, err := json.Marshal(s)
	must(t, err)
	put(t, r.in(stateFile), text)
}

// claims is a release as a state may name it.
func claims(version string, data []byte) *Release {
	return &Release{version, 1, int64(len(data)), sumOf(data)}
}

// placed puts a release into its folder as an update does.
func placed(t *testing.T, r *Releases, m Manifest, data []byte, key ed25519.PrivateKey) {
	t.Helper()
	var b bytes.Buffer
	must(t, Write(&b, m, data, key))
	opened, err := Open(&b, []ed25519.PublicKey{key.Public().(ed25519.PublicKey)})
	must(t, err)
	put(t, r.in(m.Version, binaryName), data)
	put(t, r.in(m.Version, signedFile), opened.signed)
}

func swap(t *testing.T, a, b string) {
	t.Helper()
	must(t, os.Rename(a, a+"-"))
	must(t, os.Rename(b, a))
	must(t, os.Rename(a+"-", b))
}

// forgeries are what somebody may do who can write the data folder while the
// gateway is stopped. 1.2.0 is what runs then, 1.1.0 is kept beside it.
var forgeries = []struct {
	name  string
	forge func(t *testing.T, r *Releases)
	want  string // what runs at the next start
	says  string // why what was put there does not
}{
	{"a script that nobody signed", func(t *testing.T, r *Releases) {
		put(t, r.in("9.0.0", binaryName), []byte("#!/bin/sh\n"))
		noted(t, r, State{Current: claims("9.0.0", []byte("#!/bin/sh\n"))})
	}, "1.0.0", "no signature is kept"},
	{"a script on trial", func(t *testing.T, r *Releases) {
		put(t, r.in("9.0.0", binaryName), []byte("#!/bin/sh\n"))
		noted(t, r, State{Trial: &Trial{Release: *claims("9.0.0", []byte("#!/bin/sh\n"))}})
	}, "1.0.0", "no signature is kept"},
	{"a script of which only the good state knows", func(t *testing.T, r *Releases) {
		put(t, r.in("9.0.0", binaryName), []byte("#!/bin/sh\n"))
		noted(t, r, State{Current: claims("9.0.0", []byte("#!/bin/sh\n"))})
		must(t, os.Rename(r.in(stateFile), r.in(goodFile)))
		put(t, r.in(stateFile), []byte("{"))
	}, "1.0.0", "no signature is kept"},
	{"a script under a signed name", func(t *testing.T, r *Releases) {
		put(t, r.in("1.2.0", binaryName), []byte("#!/bin/sh\n"))
		noted(t, r, State{Current: claims("1.2.0", []byte("#!/bin/sh\n"))})
	}, "1.0.0", "it has 10 bytes, not 70000"},
	{"a script as long as what was signed", func(t *testing.T, r *Releases) {
		script := append([]byte("#!/bin/sh\n"), make([]byte, 70_000-10)...)
		put(t, r.in("1.2.0", binaryName), script)
		noted(t, r, State{Current: claims("1.2.0", script)})
	}, "1.0.0", "its checksum differs"},
	{"another signs", func(t *testing.T, r *Releases) {
		placed(t, r, manifestOf("9.0.0"), binaryOf("9.0.0"), stranger)
		noted(t, r, State{Current: claims("9.0.0", binaryOf("9.0.0"))})
	}, "1.0.0", "none of the keys"},
	{"another signs and brings the key", func(t *testing.T, r *Releases) {
		placed(t, r, manifestOf("9.0.0"), binaryOf("9.0.0"), stranger)
		noted(t, r, State{Current: claims("9.0.0", binaryOf("9.0.0"))})
		put(t, r.in("9.0.0", "key"), stranger.Public().(ed25519.PublicKey))
		put(t, r.in("keys"), stranger.Public().(ed25519.PublicKey))
	}, "1.0.0", "none of the keys"},
	{"the signature of another", func(t *testing.T, r *Releases) {
		data, err := os.ReadFile(r.in("1.2.0", signedFile))
		must(t, err)
		placed(t, r, manifestOf("9.0.0"), binaryOf("9.0.0"), stranger)
		put(t, r.in("9.0.0", signedFile), data)
		noted(t, r, State{Current: claims("9.0.0", binaryOf("9.0.0"))})
	}, "1.0.0", "what was signed in its folder is 1.2.0"},
	{"a renamed one", func(t *testing.T, r *Releases) {
		must(t, os.Rename(r.in("1.1.0"), r.in("9.0.0")))
		noted(t, r, State{Current: claims("9.0.0", binaryOf("1.1.0"))})
	}, "1.0.0", "what was signed in its folder is 1.1.0"},
	{"two that are swapped", func(t *testing.T, r *Releases) { swap(t, r.in("1.1.0"), r.in("1.2.0")) },
		"1.0.0", "what was signed in its folder is 1.1.0"},
	{"two whose binaries are swapped", func(t *testing.T, r *Releases) {
		swap(t, r.in("1.1.0", binaryName), r.in("1.2.0", binaryName))
	}, "1.0.0", "its checksum differs"},
	{"one of another machine", func(t *testing.T, r *Releases) {
		m := manifestOf("9.0.0")
		m.Arch = "sparc"
		placed(t, r, m, binaryOf("9.0.0"), vendor)
		noted(t, r, State{Current: claims("9.0.0", binaryOf("9.0.0"))})
	}, "1.0.0", "is for linux/sparc"},
	{"an old one in its place", func(t *testing.T, r *Releases) {
		placed(t, r, manifestOf("1.0.5"), binaryOf("1.0.5"), vendor)
		noted(t, r, State{Current: claims("1.0.5", binaryOf("1.0.5"))})
	}, "1.0.0", "older than 1.1.0, which was kept here"},
	{"an old one on trial", func(t *testing.T, r *Releases) {
		placed(t, r, manifestOf("1.1.5"), binaryOf("1.1.5"), vendor)
		noted(t, r, State{Current: claims("1.2.0", binaryOf("1.2.0")), Trial: &Trial{Release: *claims("1.1.5", binaryOf("1.1.5"))}})
	}, "1.2.0", "older than 1.2.0, which has run here"},
	{"one that is older than the package", func(t *testing.T, r *Releases) {
		placed(t, r, manifestOf("0.9.0"), binaryOf("0.9.0"), vendor)
		noted(t, r, State{Current: claims("0.9.0", binaryOf("0.9.0"))})
		must(t, os.Remove(r.in(goodFile)))
	}, "1.0.0", ""},
	{"a state that lies of what was signed", func(t *testing.T, r *Releases) {
		noted(t, r, State{Current: &Release{"1.2.0", 77, 1, "00"}, Newest: "1.0.1"})
	}, "1.2.0", ""},
	{"a state that lies of what the database needs", func(t *testing.T, r *Releases) {
		damage(t, r, "1.2.0")
		noted(t, r, State{Current: &Release{"1.2.0", 77, 1, "00"}, Previous: claims("1.1.0", nil)})
	}, "1.0.0", "it knows schema 1 of the database, and that is in schema 77"},
	{"a signature of one byte", func(t *testing.T, r *Releases) { put(t, r.in("1.2.0", signedFile), []byte{1}) }, "1.1.0", "none of the keys"},
	{"an endless signature", func(t *testing.T, r *Releases) {
		put(t, r.in("1.2.0", signedFile), nil)
		must(t, os.Truncate(r.in("1.2.0", signedFile), 1<<40))
	}, "1.1.0", "want at most 4160"},
	{"an endless program", func(t *testing.T, r *Releases) { must(t, os.Truncate(r.in("1.2.0", binaryName), 1<<40)) }, "1.1.0", "it has 1099511627776 bytes, not 70000"},
	{"a pipe for the program", pipe("1.2.0", binaryName), "1.1.0", "is no file"},
	{"a pipe for the signature", pipe("1.2.0", signedFile), "1.1.0", "is no file"},
	{"a link for the program", link("/dev/zero", "1.2.0", binaryName), "1.1.0", "symbolic links"},
	{"a link for the signature", link("/proc/self/mem", "1.2.0", signedFile), "1.1.0", "symbolic links"},
	{"a link for the folder", func(t *testing.T, r *Releases) {
		must(t, os.RemoveAll(r.in("1.2.0")))
		link("/proc/self/fd", "1.2.0")(t, r)
	}, "1.1.0", "no signature is kept"},
	{"a hard link for the program", func(t *testing.T, r *Releases) {
		must(t, os.Remove(r.in("1.2.0", binaryName)))
		must(t, os.Link(r.in("1.1.0", binaryName), r.in("1.2.0", binaryName)))
	}, "1.1.0", "its checksum differs"},
	{"a folder for the program", func(t *testing.T, r *Releases) {
		must(t, os.Remove(r.in("1.2.0", binaryName)))
		must(t, os.Mkdir(r.in("1.2.0", binaryName), 0o700))
	}, "1.1.0", "is no file"},
}

func pipe(parts ...string) func(*testing.T, *Releases) {
	return func(t *testing.T, r *Releases) {
		must(t, os.RemoveAll(r.in(parts...)))
		must(t, unix.Mkfifo(r.in(parts...), 0o700))
	}
}

func link(to string, parts ...string) func(*testing.T, *Releases) {
	return func(t *testing.T, r *Releases) {
		must(t, os.RemoveAll(r.in(parts...)))
		must(t, os.Symlink(to, r.in(parts...)))
	}
}

// settled are releases of which 1.2.0 runs and 1.1.0 is kept.
func settled(t *testing.T) *Releases {
	t.Helper()
	r := confirmed(t, "1.1.0")
	must(t, r.take(t, "1.2.0"))
	must(t, r.Begin(false))
	r.wantStart(t, "1.2.0")
	r = r.as("1.2.0")
	must(t, r.Confirm())
	must(t, r.Told(maxNews))
	return r
}

// Who can write the data folder starts nothing that was not signed for this
// machine, and nothing older than what was kept. What is not started is told once,
// and stays in the status.
func TestForgedReleaseIsNotStarted(t *testing.T) {
	for _, c := range forgeries {
		t.Run(c.name, func(t *testing.T) {
			r := settled(t)
			c.forge(t, r)
			r.wantStart(t, c.want, c.want)
			s := r.State()
			if c.says == "" {
				return
			}
			if !slices.ContainsFunc(s.News, func(n News) bool { return strings.Contains(n.Reason, c.says) }) {
				t.Errorf("told %+v, want %q", s.News, c.says)
			}
			words := strings.Join(r.as(c.want).Status().Lines(), "\n")
			if s.Failed == nil && !strings.Contains(words, "is not started: ") || !strings.Contains(words, c.says) {
				t.Errorf("the status is %s", words)
			}
			told := len(s.News)
			r.wantStart(t, c.want)
			if got := r.State().News; len(got) != told {
				t.Errorf("told again: %+v", got)
			}
		})
	}
}

// TestForgedState leaves what a stranger may write in the place of the state: the
// release of the last confirmation runs, soon and in little memory.
func TestForgedState(t *testing.T) {
	deep := strings.Repeat(`{"current":`, 20_000)
	for name, forge := range map[string]func(t *testing.T, r *Releases){
		"nothing": func(t *testing.T, r *Releases) { put(t, r.in(stateFile), nil) },
		"deep":    func(t *testing.T, r *Releases) { put(t, r.in(stateFile), []byte(deep)) },
		"endless": func(t *testing.T, r *Releases) {
			put(t, r.in(stateFile), nil)
			must(t, os.Truncate(r.in(stateFile), 1<<40))
		},
		"a pipe":   pipe(stateFile),
		"a device": link("/dev/zero", stateFile),
		"a way up": func(t *testing.T, r *Releases) {
			put(t, r.in(stateFile), []byte(`{"current":{"version":"../../bin"}}`))
		},
		"a way down": func(t *testing.T, r *Releases) { put(t, r.in(stateFile), []byte(`{"current":{"version":"/bin"}}`)) },
		"no version": func(t *testing.T, r *Releases) { put(t, r.in(stateFile), []byte(`{"next":{}}`)) },
		"endless trials": func(t *testing.T, r *Releases) {
			put(t, r.in(stateFile), []byte(`{"trial":{"version":"1.2.0","tries":-9}}`))
		},
		"only one before": func(t *testing.T, r *Releases) {
			put(t, r.in(stateFile), []byte(`{"previous":{"version":"1.1.0"}}`))
		},
		"two values": func(t *testing.T, r *Releases) { put(t, r.in(stateFile), []byte(`{}{}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := settled(t)
			forge(t, r)
			r.wantStart(t, "1.2.0", "1.2.0")
			if s := r.Status(); s.Damaged == "" {
				t.Errorf("nothing is said of it: %+v", s)
			}
			must(t, r.take(t, "1.3.0")) // and the next update mends it
			must(t, r.Begin(false))
			r.wantStart(t, "1.3.0")
		})
	}
	r := settled(t)
	must(t, os.Remove(r.in(stateFile)))
	put(t, r.in(stateFile, "x"), nil) // only a person gets that out of the way
	r.wantStart(t, "1.2.0")
	r = settled(t)
	text, err := os.ReadFile(r.in(stateFile))
	must(t, err)
	put(t, r.in(stateFile), []byte(`{"of_a_later_release":{"a":[1]},`+string(text[1:])))
	r.wantStart(t, "1.2.0")
}

// A state that was written by hand makes no room for an old bundle. Only who removes
// the whole folder, as a factory reset does, begins once more with the package.
func TestForgedStateTakesNoOldBundle(t *testing.T) {
	r := settled(t).as("1.0.0")
	noted(t, r, State{})
	if err := r.take(t, "1.1.5"); err == nil || !strings.Contains(err.Error(), "older than 1.2.0, which has run here") {
		t.Errorf("got %v", err)
	}
	must(t, os.RemoveAll(r.Dir))
	r.wantStart(t, "1.0.0")
	must(t, r.take(t, "1.1.5"))
	must(t, r.Begin(false))
	r.wantStart(t, "1.1.5")
}

// What was put in the way of the state is out of the way before a start is counted.
func TestNothingHoldsTheStart(t *testing.T) {
	for name, block := range map[string]func(*testing.T, *Releases){
		"pipe": pipe(stateFile + ".new"), "link": link("/dev/full", stateFile+".new"),
		"folder": func(t *testing.T, r *Releases) { put(t, r.in(stateFile+".new", "x"), nil) },
	} {
		r := settled(t)
		must(t, r.take(t, "1.3.0"))
		must(t, r.Begin(false))
		block(t, r)
		if got := r.start(t); got != "1.3.0" {
			t.Errorf("%s: %s runs", name, got)
		}
	}
	r := New(t.TempDir(), "1.0.0", 1, vendorKeys())
	put(t, r.Dir, nil) // a file in the place of the folder
	r.wantStart(t, "1.0.0")
}
