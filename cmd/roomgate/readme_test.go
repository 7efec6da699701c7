package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// block is one fenced session of the README: commands with what they print.
type block struct {
	line     int
	commands []string
	output   []string
}

// TestReadme types the README's walk-through into a demo on free ports and
// compares what comes with what is printed there, line by line.
func TestReadme(t *testing.T) {
	t.Parallel()
	blocks := sessions(t, filepath.Join(root, "README.md"))
	if len(blocks) < 5 || blocks[0].commands[0] != "make run" {
		t.Fatalf("the README has %d sessions, and the first is not make run", len(blocks))
	}
	d := startDemo(t)
	d.compare(t, blocks[0], d.printed(t))
	for _, b := range blocks[1:] {
		if tool := missing(b); tool != "" {
			t.Logf("README.md:%d is skipped: %s is not installed", b.line, tool)
			continue
		}
		d.compare(t, b, d.typed(t, b.commands))
	}
}

func sessions(t *testing.T, path string) []block {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var open *block
	for i, line := range strings.Split(string(text), "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case line == "```console":
			open = &block{line: i + 1}
		case line == "```" && open != nil:
			blocks = append(blocks, *open)
			open = nil
		case open != nil && isCommand:
			open.commands = append(open.commands, command)
		case open != nil:
			open.output = append(open.output, line)
		}
	}
	return blocks
}

// missing names a tool that a session needs and this machine lacks.
func missing(b block) string {
	for _, tool := range []string{"curl", "mosquitto_sub"} {
		if _, err := exec.LookPath(tool); err != nil && strings.Contains(strings.Join(b.commands, "\n"), tool) {
			return tool
		}
	}
	return ""
}

// runningDemo is a demo with the addresses that stand for the printed ones.
type runningDemo struct {
	out   string
	dir   string // where commands are typed
	env   []string
	ports map[string]string
	pid   int
}

func startDemo(t *testing.T, more ...string) *runningDemo {
	t.Helper()
	dir := t.TempDir()
	d := &runningDemo{out: filepath.Join(dir, "out"), dir: dir, ports: map[string]string{},
		env: append(os.Environ(), "TMPDIR="+dir, "XDG_RUNTIME_DIR=", "GORACE=atexit_sleep_ms=0")}
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
	return d
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

// typed runs a session's commands in one shell and returns all that it says.
func (d *runningDemo) typed(t *testing.T, commands []string) string {
	t.Helper()
	script := strings.ReplaceAll(strings.Join(commands, "\n"), "bin/roomgate", "roomgate")
	for printed, real := range d.ports {
		script = regexp.MustCompile(`\b`+printed+`\b`).ReplaceAllString(script, real)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Env, cmd.Dir = d.env, d.dir
	out, _ := cmd.CombinedOutput() // some sessions show failures
	return string(out)
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

// compare wants each printed line in the output, in order. "…" in a line
// stands for anything, on a line of its own for any lines.
func (d *runningDemo) compare(t *testing.T, b block, got string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	skipped := false
	for i, want := range b.output {
		if want == "…" {
			skipped = true
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(shape(want)), "…", ".*") + "$")
		for len(lines) > 0 && skipped && !pattern.MatchString(shape(lines[0])) {
			lines = lines[1:]
		}
		if len(lines) == 0 || !pattern.MatchString(shape(lines[0])) {
			t.Errorf("README.md:%d: line %d should be\n  %s\nbut the commands say\n%s", b.line, i+1, want, indent(got))
			return
		}
		lines, skipped = lines[1:], false
	}
	if len(lines) > 0 && !skipped {
		t.Errorf("README.md:%d: the commands also say\n%s", b.line, indent(strings.Join(lines, "\n")))
	}
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
}
