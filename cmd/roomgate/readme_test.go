package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestReadme types what every README of the tree says to type: what stands in
// ```console is compared with what is printed there, line by line; what stands
// in ```sh has to work. Each page has a folder of its own, and a demo if it
// starts one.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, p := range readmePages(t) {
		if p.executable() {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.execute(t)
			})
		}
	}
}

// execute types the blocks of a page, in order.
func (p readmePage) execute(t *testing.T) {
	source, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	d := &runningDemo{page: p.name, dir: t.TempDir(), ports: map[string]string{}}
	d.env = append(os.Environ(), "SRC="+source, "TMPDIR="+d.dir, "XDG_RUNTIME_DIR=", "GORACE=atexit_sleep_ms=0")
	for _, b := range p.blocks {
		tool := missing(b)
		switch {
		case b.lang != langConsole && b.lang != langShell && b.lang != langSetup:
		case b.reason != "":
			t.Logf("%s:%d is not executed here: %s", p.name, b.line, b.reason)
		case tool != "":
			t.Logf("%s:%d is skipped: %s is not installed", p.name, b.line, tool)
		case b.lang == langSetup && b.commands[0] == "demo":
			d.start(t)
		case b.lang == langConsole && b.commands[0] == "make run":
			d.start(t)
			if wrong := differs(b.steps[0].output, d.printed(t)); wrong != "" {
				t.Errorf("%s:%d: %s", p.name, b.line, wrong)
			}
		case b.lang == langConsole:
			d.converse(t, b)
		case strings.HasPrefix(b.commands[0], "make "):
			makes(t, p.name, b)
		default:
			if out, err := d.typed(t, b.commands, "set -e\n"); err != nil {
				t.Errorf("%s:%d: %v\n%s", p.name, b.line, err, indent(out))
			}
		}
	}
}

// makes looks whether the Makefile has the targets of a block. Typing them would
// build everything again, or test it.
func makes(t *testing.T, name string, b block) {
	for _, command := range b.commands {
		words := strings.Fields(command)
		if out, err := exec.CommandContext(t.Context(), "make", "-n", "-C", root, words[1]).CombinedOutput(); err != nil {
			t.Errorf("%s:%d: %s: %v\n%s", name, b.line, command, err, indent(string(out)))
		}
		t.Logf("%s:%d is not executed here: %s: the Makefile has it", name, b.line, words[0]+" "+words[1])
	}
}

// missing names a tool that a block needs and this machine lacks.
func missing(b block) string {
	for _, tool := range []string{"curl", "mosquitto_sub", "make", "node", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil && strings.Contains(strings.Join(b.commands, "\n"), tool+" ") && b.commands[0] != "make run" {
			return tool
		}
	}
	return ""
}

// runningDemo is a folder to type in, and the demo once it is started, whose addresses
// stand for the printed ones.
type runningDemo struct {
	page  string
	dir   string // where commands are typed
	out   string // what the demo prints
	env   []string
	ports map[string]string
	pid   int
}

// startDemo starts a demo for a test of its own, under the limit of its unit.
func startDemo(t *testing.T, more ...string) *runningDemo {
	t.Helper()
	d := &runningDemo{dir: t.TempDir(), ports: map[string]string{}}
	d.env = append(os.Environ(), "TMPDIR="+d.dir, "XDG_RUNTIME_DIR=", "GORACE=atexit_sleep_ms=0", "GOMEMLIMIT=160MiB", "ROOMGATE_SYSTEM_KEY="+demoKey)
	d.start(t, more...)
	return d
}

func (d *runningDemo) start(t *testing.T, more ...string) {
	t.Helper()
	d.out = filepath.Join(d.dir, "out")
	out, err := os.Create(d.out)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var log bytes.Buffer
	args := append([]string{"demo", "--listen", "127.0.0.1:0", "--broker", "127.0.0.1:0", "--cloud-listen", "127.0.0.1:0"}, more...)
	cmd := exec.Command("roomgate", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = d.env, out, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.pid = cmd.Process.Pid
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the demo ended with %v and said\n%s", err, &log)
		}
	})
	d.wait(t)
}

// wait until the demo is ready, and learn its ports.
func (d *runningDemo) wait(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(d.printed(t), "\nready\n"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the demo is not ready: %s", d.printed(t))
		}
	}
	for name, port := range map[string]string{"cloud broker": "1884", "room broker": "1883", "http": "8080"} {
		found := regexp.MustCompile(`(?m)^` + name + ` listening on .*:(\d+)$`).FindStringSubmatch(d.printed(t))
		if found == nil {
			t.Fatalf("%s has no address", name)
		}
		d.ports[port] = found[1]
	}
}

func (d *runningDemo) printed(t *testing.T) string {
	t.Helper()
	out, err := os.ReadFile(d.out)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// typed runs commands in one shell and returns all that they say. It knows the
// variables of the blocks before, as a terminal does. Sticks and cards, which are below /media, are below the page's folder here.
func (d *runningDemo) typed(t *testing.T, commands []string, before string) (string, error) {
	t.Helper()
	script := strings.NewReplacer("bin/roomgate", "roomgate", "/media/", "media/").Replace(strings.Join(commands, "\n"))
	script = "set -a\n[ -f .variables ] && . ./.variables\n" + before + script + "\nexport -p >.variables"
	for printed, real := range d.ports {
		script = regexp.MustCompile(`\b`+printed+`\b`).ReplaceAllString(script, real)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Env, cmd.Dir = d.env, d.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// varying is what is different each time, with what stands for it.
var varying = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "TIME"},
	{regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`), "ID"},
	{regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{1,2} [A-Z][a-z]{2}( \d{4})?`), "DATE"},
	{regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{6}\b`), "ID"}, // the end of one
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`/\S+/control\.sock`), "SOCKET"},
}

// shape is a text without what varies; blanks that align columns are one.
func shape(s string) string {
	for _, v := range varying {
		s = v.pattern.ReplaceAllString(s, v.name)
	}
	return strings.Join(strings.Fields(s), " ")
}

// watching is a command that changes nothing, so that it can be typed again.
var watching = regexp.MustCompile(`^bin/roomgate (device status|booking list|events|message list|webhook deliveries|cloud fleet|sim \w+ [\w-]+$|sim letters)`)

// pause is where a reader waits until something has happened.
var pause = regexp.MustCompile(`(?:^|; )sleep \d+; (.*)$`)

// converse types the commands of a session, each in a shell of its own unless
// one goes on in the background, and compares what they say.
func (d *runningDemo) converse(t *testing.T, b block) {
	steps := b.steps
	if slices.ContainsFunc(steps, func(s step) bool { return strings.HasSuffix(s.command, " &") }) {
		all := step{}
		for _, s := range steps {
			all.command += s.command + "\n"
			all.output = append(all.output, s.output...)
		}
		steps = []step{all}
	}
	for _, s := range steps {
		if wrong := d.try(t, s); wrong != "" {
			t.Errorf("%s:%d: %s: %s", d.page, b.line, s.command, wrong)
			return
		}
	}
}

// try types a command and says what is wrong with the answer. Where the page
// waits for a number of seconds and then looks, it looks until it sees what the
// page shows: sooner than that, or later on a busy machine.
func (d *runningDemo) try(t *testing.T, s step) (wrong string) {
	first, again := s.command, ""
	if p := pause.FindStringSubmatch(s.command); p != nil && !slices.ContainsFunc(strings.Split(p[1], "; "), func(c string) bool { return !watching.MatchString(c) }) {
		first, again = strings.TrimSuffix(s.command, p[0]), p[1]
	}
	before, _ := d.typed(t, []string{first}, "") // some show failures
	if again == "" {
		return differs(s.output, before)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		got, _ := d.typed(t, []string{again}, "")
		if wrong = differs(s.output, before+got); wrong == "" || time.Now().After(end) {
			return wrong
		}
	}
}

// differs wants each printed line in the output, in order, and says which is
// not. "…" in a line stands for anything, on a line of its own for any lines.
func differs(output []string, got string) (wrong string) {
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	if got == "" {
		lines = nil
	}
	skipped := false
	for i, want := range output {
		if want == "…" {
			skipped = true
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(shape(want)), "…", ".*") + "$")
		for len(lines) > 0 && skipped && !pattern.MatchString(shape(lines[0])) {
			lines = lines[1:]
		}
		if len(lines) == 0 || !pattern.MatchString(shape(lines[0])) {
			return fmt.Sprintf("line %d should be\n  %s\nbut it says\n%s", i+1, want, indent(got))
		}
		lines, skipped = lines[1:], false
	}
	if len(lines) > 0 && !skipped {
		return "it also says\n" + indent(strings.Join(lines, "\n"))
	}
	return ""
}

func indent(s string) string { return fmt.Sprint("  ", strings.ReplaceAll(s, "\n", "\n  ")) }

// TestReadmeShape proves that the comparison can fail.
func TestReadmeShape(t *testing.T) {
	if shape("2026-11-21T08:00:00.000Z  a  b") != shape("2027-01-01T09:30:00.5Z a b") {
		t.Error("times differ in shape")
	}
	if shape("temperature  31.5   high") == shape("temperature  21.5   normal") {
		t.Error("values do not differ in shape")
	}
	for _, c := range []struct{ want, got string }{{"a", "b"}, {"a", "a\nb"}, {"a\nb", "a"}, {"…\nb", "a"}, {"a … c", "a b"}} {
		if differs(strings.Split(c.want, "\n"), c.got) == "" {
			t.Errorf("%q does not differ from %q", c.got, c.want)
		}
	}
}
