//go:build faults

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
)

// verdict is how a test fared. What it counts it says with T.Attr: injected,
// survived, lost, doubled, and recovery, a duration.
type verdict struct {
	passed, failed, skipped int
	ended                   bool
	counted                 map[string]int
	recovery                time.Duration
	said                    []string
}

// TestFaults runs every class of what goes wrong and every attack of the page, and
// then each class without its protection, and prints the table.
func TestFaults(t *testing.T) {
	classes := faults[:len(faults):len(faults)]
	for _, row := range securityRows(t) {
		if tests := testsOf(row[3]); len(tests) > 0 {
			classes = append(classes, faultClass{name: row[0] + " " + clipped(row[2], 44), tests: tests})
		}
	}
	if only := os.Getenv("FAULTS"); only != "" {
		match := regexp.MustCompile(only)
		classes = slices.DeleteFunc(slices.Clone(classes), func(f faultClass) bool { return !match.MatchString(f.name) })
	}
	verdicts, without := runTests(t, classes), tryAll(t, classes)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "CLASS\tINJECTED\tSURVIVED\tLOST\tDOUBLED\tLONGEST RECOVERY\tWITHOUT PROTECTION")
	for i, c := range classes {
		sum, said := &verdict{counted: map[string]int{}}, map[string]bool{}
		for _, name := range c.tests {
			v := verdicts[name]
			switch {
			case v == nil || !v.ended:
				t.Errorf("%s: %s did not run", c.name, name)
				continue
			case v.failed > 0:
				t.Errorf("%s: %s failed\n%s", c.name, name, strings.Join(v.said, ""))
			}
			sum.add(v, said)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\n", c.name, sum.row(said), without[i])
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, c := range classes {
		if limit := faultLimits[c.name]; limit != "" {
			fmt.Printf("\n%s, its limit: %s\n", c.name, limit)
		}
	}
}

func clipped(text string, most int) string {
	if r := []rune(strings.TrimSpace(text)); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return strings.TrimSpace(text)
}

// add joins what a test counted; one that does not count injects itself.
func (v *verdict) add(one *verdict, said map[string]bool) {
	for k, n := range one.counted {
		v.counted[k] += n
		said[k] = true
	}
	if _, counts := one.counted["injected"]; !counts {
		v.counted["injected"] += one.passed + one.failed
		v.counted["survived"] += one.passed
	}
	v.skipped += one.skipped
	v.recovery = max(v.recovery, one.recovery)
}

func (v *verdict) row(said map[string]bool) string {
	shown := func(key string) string {
		if !said[key] {
			return "-"
		}
		return strconv.Itoa(v.counted[key])
	}
	recovery := "-"
	if v.recovery > 0 {
		recovery = v.recovery.Round(time.Millisecond).String()
	}
	injected := strconv.Itoa(v.counted["injected"])
	if v.counted["injected"] == 0 && v.skipped > 0 {
		injected = "not here"
	}
	return strings.Join([]string{injected, strconv.Itoa(v.counted["survived"]), shown("lost"), shown("doubled"), recovery}, "\t")
}

// testEvent is one line of go test -json.
type testEvent struct{ Action, Package, Test, Key, Value, Output string }

// runTests builds the tests of all classes side by side and runs them once, one package at a time, for some
// measure time and memory.
func runTests(t *testing.T, classes []faultClass) map[string]*verdict {
	t.Helper()
	byName, packages := map[string]bool{}, map[string]bool{}
	for _, c := range classes {
		for _, name := range c.tests {
			folder, test, _ := strings.Cut(name, ".")
			byName[test], packages["./"+folder] = true, true
		}
	}
	args := []string{"test", "-vet=off", "-count=1", "-timeout=30m", "-tags=integration,faults"}
	in := slices.Sorted(maps.Keys(packages))
	build := exec.CommandContext(t.Context(), "go", slices.Concat(args, []string{"-run=^$"}, in)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	args = append(args, "-json", "-p=1", "-run=^("+strings.Join(slices.Sorted(maps.Keys(byName)), "|")+")$")
	cmd := exec.CommandContext(t.Context(), "go", append(args, in...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]*verdict{}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e testEvent
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			note(verdicts, e)
		}
	}
	if err := cmp.Or(lines.Err(), cmd.Wait()); err != nil && len(verdicts) == 0 {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return verdicts
}

// note takes one event. Only the leaves of a test count.
func note(verdicts map[string]*verdict, e testEvent) {
	name, _, sub := strings.Cut(e.Test, "/")
	if name == "" {
		return
	}
	name = strings.TrimPrefix(e.Package, "roomgate/") + "." + name
	v := verdicts[name]
	if v == nil {
		v = &verdict{counted: map[string]int{}}
		verdicts[name] = v
	}
	leaf := sub || v.passed+v.failed+v.skipped == 0
	switch e.Action {
	case "attr":
		if d, err := time.ParseDuration(e.Value); err == nil && e.Key == "recovery" {
			v.recovery = max(v.recovery, d)
		} else if n, err := strconv.Atoi(e.Value); err == nil {
			v.counted[e.Key] += n
		}
	case "output":
		v.said = append(v.said, e.Output)
	case "pass", "fail", "skip":
		v.ended = v.ended || !sub
		switch {
		case e.Action == "fail" && (leaf || v.failed == 0):
			v.failed++
		case e.Action == "pass" && leaf:
			v.passed++
		case e.Action == "skip" && leaf:
			v.skipped++
		}
	}
}

// notRun says that a package was not built, which proves nothing.
var notRun = regexp.MustCompile(`(?m)\[(build|setup) failed\]|no tests to run|^go: `)

// tryAll tries all controls, as many at a time as there are processors: most of them wait for the disk or for a gateway.
func tryAll(t *testing.T, classes []faultClass) (said []string) {
	t.Helper()
	said = make([]string, len(classes))
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for i, c := range classes {
		all.Go(func() error {
			said[i] = c.control.try(t, c.name)
			return nil
		})
	}
	_ = all.Wait()
	return said
}

// try switches the protection off and says how the test fared.
func (c control) try(t *testing.T, class string) string {
	t.Helper()
	if c.file == "" {
		return ""
	}
	at, err := filepath.Abs(filepath.Join(root, c.file))
	source, bad := os.ReadFile(at)
	if err = cmp.Or(err, bad); err != nil {
		t.Error(err)
		return "NO SUCH FILE"
	}
	dir := t.TempDir()
	off, changed := filepath.Join(dir, "off.go"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(standIns{map[string]string{at: off}})
	if err == nil {
		err = os.WriteFile(off, bytes.Replace(source, []byte(c.is), []byte(c.becomes), 1), 0o600)
	}
	if err = cmp.Or(err, os.WriteFile(changed, text, 0o600)); err != nil {
		t.Error(err)
		return "NOT WRITTEN"
	}
	folder, test, _ := strings.Cut(c.test, ".")
	patience := "45s"
	if folder == "cmd/roomgate" { // it builds the program, and some disks are slow
		patience = "6m"
	}
	args := []string{"test", "-vet=off", "-count=1", "-timeout=" + patience, "-tags=integration,faults", "-overlay=" + changed, "-v", "-run=^" + test + "$", "./" + folder}
	cmd := exec.CommandContext(t.Context(), "go", append(args, quiet(t, folder)...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), overlayOfControl+"="+changed)
	out, err := cmd.CombinedOutput()
	t.Logf("%s: without its protection %s says\n%s", class, c.test, out)
	switch {
	case err == nil && bytes.Contains(out, []byte("--- SKIP: "+test+" ")):
		return "not here"
	case err == nil:
		t.Errorf("%s: %s passes also without its protection", class, c.test)
		return "SURVIVES TOO"
	case notRun.Match(out):
		t.Errorf("%s: without its protection it is not built\n%s", class, out)
		return "NOT BUILT"
	case !bytes.Contains(out, []byte("--- FAIL: "+test)) && !bytes.Contains(out, []byte("panic: ")):
		t.Errorf("%s: without its protection %s did not run\n%s", class, c.test, out)
		return "NOT RUN"
	}
	return "fails, as it has to"
}

// quiet keeps a test that draws what it does from leaving a file when it fails.
func quiet(t *testing.T, folder string) []string {
	for path, source := range sources(t) {
		if path == filepath.Join(root, folder, filepath.Base(path)) && bytes.Contains(source, []byte("\t\"pgregory.net/rapid\"\n")) {
			return []string{"-rapid.nofailfile"}
		}
	}
	return nil
}
