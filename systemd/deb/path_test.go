//go:build integration

package deb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/update"
)

// mostCommands is how many an installer types, from the package to an update.
const mostCommands = 8

// answers are what the installer says where a prompt ends with that; to all else he
// presses return.
var answers = []struct{ prompt, says string }{
	{`gateway id \[.*\]: `, "house-3"},
	{`first room .*: `, "Atlas"},
	{`time zone.*: `, "Europe/Berlin"},
	{`O3 hub: address.*: `, hubAddress},
	{`O3 hub: password.*: `, hubPassword},
	{`display at the door.*: `, "n"},
	{`write this.*: `, "y"},
	{`ready\? \[y/n, s skips\] `, "y"},
	{`\[y/n, s skips\] `, "y"},
}

// TestPrintedPath types what systemd/README.md tells an installer to type, in a fresh
// Debian whose systemd runs and which has no network, and answers what he is asked: from
// the package to an accepted room, whose sensor hub is simulated, and to an update.
func TestPrintedPath(t *testing.T) {
	needs(t, "systemd-nspawn", "nsenter")
	r := newRoot(t)
	r.stick(t)
	c := r.on(t)
	c.hub(t)
	commands := printed(t, "## With the package", "## Update")
	if len(commands) > mostCommands {
		t.Errorf("%d commands are printed, want at most %d: %q", len(commands), mostCommands, commands)
	}
	for _, command := range commands {
		if err := c.types(command); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, c.transcript.String())
		}
		fmt.Fprintln(c.world, "atlas occupancy vacant") // he goes out of the room
	}
	if !strings.Contains(c.transcript.String(), "and has no meeting space yet: roomgate setup asks for them") {
		t.Errorf("the package does not say how to go on:\n%s", c.transcript.String())
	}
	if !strings.Contains(c.transcript.String(), "\nAtlas: accepted, ") {
		t.Errorf("the room is not accepted:\n%s", c.transcript.String())
	}
	c.proves(t)
	c.mistakes(t)
	c.keep(t)
}

// The versions of the package and of the release on the stick: one program, in which
// the one stands for the other.
const first, second = "1.10000.0", "1.10001.0"

// stick puts what the installer brings into his folder and onto a stick: the package,
// which trusts the key of who made it, and a release.
func (r *root) stick(t *testing.T) {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	public, err := update.NewKey(key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := update.ReadKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"/media/stick", "/home/installer"} {
		if err := os.MkdirAll(r.path(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var program []byte
	r.give(t, first, func(dir string) {
		edit(t, filepath.Join(dir, "usr/share/roomgate/gateway.yaml"), fmt.Sprintf("\nupdate: {keys: [%q], trial: 5s}\n", public))
		if program, err = os.ReadFile(filepath.Join(dir, "usr/bin/roomgate")); err != nil {
			t.Fatal(err)
		}
	})
	output(t, "cp", r.path("/debs/roomgate_"+first+".deb"), r.path("/home/installer/roomgate_"+first+"_amd64.deb"))
	if !bytes.Contains(program, []byte(first)) {
		t.Fatalf("the program does not say that it is %s", first)
	}
	var bundle bytes.Buffer
	m := update.Manifest{Version: second, OS: "linux", Arch: "amd64", Schema: agent.Schema, Created: time.Now()}
	if err := update.Write(&bundle, m, bytes.ReplaceAll(program, []byte(first), []byte(second)), private); err != nil {
		t.Fatal(err)
	}
	r.write(t, "/media/stick/roomgate-"+second+"-amd64.bundle", 0o644, bundle.String())
	// The test is root already, and this Debian has nobody else: sudo only says who he was.
	r.write(t, "/usr/local/bin/sudo", 0o755, "#!/bin/sh\nSUDO_USER=installer exec \"$@\"\n")
}

// printed are the commands in the blocks of sections of the page that are for the board.
func printed(t *testing.T, sections ...string) (commands []string) {
	t.Helper()
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sections {
		_, section, ok := strings.Cut(string(page), "\n"+name+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
			for line := range strings.Lines(block[1]) {
				if strings.HasPrefix(line, "sudo ") {
					commands = append(commands, strings.Split(strings.TrimSpace(line), " && ")...)
				}
			}
		}
		if !ok || len(commands) == 0 {
			t.Fatalf("the page has no command in %s", name)
		}
	}
	return commands
}

// machine is a Debian whose systemd runs.
type machine struct {
	root       *root
	leader     string // the process id of its systemd, as seen from outside
	transcript strings.Builder
	world      io.Writer // what moves the simulated hub
}

// on boots the root, and switches it off when the test ends.
func (r *root) on(t *testing.T) *machine {
	t.Helper()
	r.write(t, "/etc/systemd/system/default.target", 0o644, "[Unit]\nRequires=multi-user.target\nAfter=multi-user.target\n")
	r.write(t, "/etc/systemd/system/up.service", 0o644, "[Unit]\nAfter=multi-user.target\n[Service]\nType=oneshot\nExecStart=touch /up\n")
	output(t, "ln", "-s", "../up.service", r.path("/etc/systemd/system/multi-user.target.wants/up.service"))
	cmd := r.nspawn(context.Background())
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	m := &machine{root: r}
	t.Cleanup(func() { m.off(cmd, over) })
	for end := time.Now().Add(time.Minute); !r.exists("/up"); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-over:
			over <- err
			t.Skipf("systemd does not boot below a folder here: %v, %s", err, said.String())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("systemd does not come up: %s", said.String())
		}
	}
	pid := cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil || len(strings.Fields(string(children))) != 1 {
		t.Fatalf("the container is not one process: %q, %v", children, err)
	}
	m.leader = strings.TrimSpace(string(children))
	return m
}

// off lets the systemd of the machine end everything, and takes the power away if it
// does not.
func (m *machine) off(cmd *exec.Cmd, over <-chan error) {
	if m.leader != "" {
		_ = m.inside(context.Background(), "systemctl", "poweroff").Run()
	}
	select {
	case <-over:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-over
	}
}

// inside is a command in the machine.
func (m *machine) inside(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "nsenter", slices.Concat([]string{"--target=" + m.leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd",
		"env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME=/root", "LC_ALL=C.UTF-8", "USER=root"}, args)...)
}

// hub starts a simulated sensor hub in the machine: this program, in another role.
func (m *machine) hub(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	output(t, "cp", self, m.root.path("/usr/local/bin/hub"))
	cmd := m.inside(t.Context(), "hub", roleHub)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	ready := make([]byte, len(hubReady))
	if _, err := io.ReadFull(out, ready); err != nil {
		t.Fatalf("the simulated hub does not start: %v", err)
	}
	m.world = in
}

// types is a person at the terminal: he types a command, answers what it asks, and
// waits until it ends.
func (m *machine) types(command string) error {
	fmt.Fprintf(&m.transcript, "$ %s\n", command)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := m.inside(ctx, "sh", "-c", "cd /home/installer && "+strings.ReplaceAll(command, "arm64", "amd64"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = to, to
	err = errors.Join(cmd.Start(), to.Close())
	if err != nil {
		return err
	}
	m.answer(out, in)
	return cmd.Wait()
}

// answer reads what a command says, and says something where it waits.
func (m *machine) answer(out io.Reader, in io.Writer) {
	line, b := "", make([]byte, 4096)
	for {
		n, err := out.Read(b)
		if err != nil {
			return
		}
		m.transcript.Write(b[:n])
		line += string(b[:n])
		line = line[strings.LastIndexByte(line, '\n')+1:]
		if !strings.HasSuffix(line, ": ") && !strings.HasSuffix(line, "] ") {
			continue
		}
		if strings.Contains(line, "move below the sensor") {
			fmt.Fprintln(m.world, "atlas occupancy occupied")
		}
		say := ""
		for _, a := range answers {
			if regexp.MustCompile(a.prompt + "$").MatchString(line) {
				say = a.says
				break
			}
		}
		fmt.Fprintln(&m.transcript, say)
		fmt.Fprintln(in, say)
		line = ""
	}
}

// proves that the release has proved itself, and runs.
func (m *machine) proves(t *testing.T) {
	t.Helper()
	said := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		out, _ := m.inside(t.Context(), "roomgate", "update", "status").CombinedOutput()
		if said = string(out); strings.HasPrefix(said, second+" runs\n") && !strings.Contains(said, "on trial") {
			return
		}
	}
	t.Errorf("the release does not run: %s", said)
}

// keep writes down what was typed and said, for who wants to read it.
func (m *machine) keep(t *testing.T) {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(top, ".cache", "deb", "path.txt"))
	if err == nil {
		err = os.WriteFile(file, []byte(m.transcript.String()), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("what was typed and said is in %s", file)
}

// mistakes are the three that people make most. What is printed has to be enough to mend
// each: where it is, what is wrong, and what to do.
func (m *machine) mistakes(t *testing.T) {
	t.Helper()
	for _, mistake := range []struct{ name, make, look, want string }{
		{"wrong indent", `printf 'broker:\n listen: ":1883"\n   users: []\n' >>/etc/roomgate/gateway.yaml`, "sudo roomgate check-config",
			`gateway.yaml:\d+:\d+: not YAML: .*begin it in the column of its neighbours`},
		{"wrong line", `sed -i '/^broker:/,$d; s/^    devices:$/&\n      - {id: atlas-lock, type: lock, driver: lock-relay, options: {relay: GPIO71}}/' /etc/roomgate/gateway.yaml`,
			"sudo systemctl reload roomgate; sudo roomgate doctor", `lock offline: relay GPIO71: line GPIO71: no such line or bus on this board: roomgate setup shows the names that it has`},
		{"wrong password", `sed -i '/atlas-lock/d' /etc/roomgate/gateway.yaml; echo 'red line 8' >/etc/roomgate/credentials/atlas-o3; systemctl restart roomgate`,
			"sudo roomgate doctor", `(?s)hub at 127.0.0.1:1899 refuses user "user" with this password.*fix: write the right password into /etc/roomgate/credentials/atlas-o3.*, then sudo systemctl restart roomgate`},
		{"nothing runs", `printf "  :\n" >>/etc/roomgate/gateway.yaml; systemctl restart roomgate || true`,
			"sudo cat /run/roomgate/claim.issue; echo", `, the gateway does not run: .*gateway\.yaml:\d+:\d+: .*\nsudo roomgate doctor says how to mend it`},
	} {
		if out, err := m.inside(t.Context(), "sh", "-ec", mistake.make).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", mistake.name, err, out)
		}
		before := m.transcript.Len()
		_ = m.types(mistake.look) // it fails
		if said := m.transcript.String()[before:]; !regexp.MustCompile(mistake.want).MatchString(said) {
			t.Errorf("%s: nothing says %s:\n%s", mistake.name, mistake.want, said)
		}
	}
}
