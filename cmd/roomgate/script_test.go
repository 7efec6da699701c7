package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// waiting is how many tests run at a time for each processor, unless -parallel
// says otherwise: most of them wait for a gateway, which waits for its devices.
const waiting = 5

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(waiting*runtime.NumCPU())); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"roomgate": released})
}

// released is the program. It may stand for another release than it is, and do
// with less work and patience than people need.
func released() {
	if v := os.Getenv("TEST_VERSION"); v != "" {
		version = v
	}
	if v, err := strconv.Atoi(os.Getenv("TEST_WORK_FACTOR")); err == nil {
		workFactor = v
	}
	if v, err := time.ParseDuration(os.Getenv("TEST_CLOUD_PATIENCE")); err == nil {
		cloudPatience = v
	}
	main()
}

// TestScript runs what users would type. Each script has a directory and
// addresses of its own.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until":   until,
			"code":    code,
			"findenv": findenv,
			"release": release,
			"ask":     askControl,
			"hides":   hides,
			"plain":   plain,
		},
	})
}

func setUp(env *testscript.Env) error {
	env.Setenv("TMPDIR", env.WorkDir)
	env.Setenv("XDG_RUNTIME_DIR", "")
	env.Setenv("GORACE", "atexit_sleep_ms=0 halt_on_error=1") // else each command takes a second
	env.Setenv("TEST_WORK_FACTOR", "10")                      // else each backup takes seconds under the race detector
	env.Setenv("TEST_CLOUD_PATIENCE", "5s")                   // a script waits for a broker that has ended
	env.Setenv("FREE", "--listen 127.0.0.1:0 --broker 127.0.0.1:0 --cloud-listen 127.0.0.1:0")
	return nil
}

// until runs a command until its output matches, less and less often: until
// PATTERN COMMAND...
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND...")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	var out []byte
	pause := 30 * time.Millisecond
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(pause) {
		pause = min(pause*5/4, 400*time.Millisecond)
		cmd := exec.Command("sh", append([]string{"-c", `exec "$@"`, "sh"}, args[1:]...)...)
		cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
		if out, _ = cmd.CombinedOutput(); pattern.Match(out) {
			return
		}
	}
	ts.Fatalf("%q never matched, at last:\n%s", args[0], out[max(0, len(out)-4096):])
}

// environ is what a command of the script needs to know.
func environ(ts *testscript.TestScript) []string {
	env := []string{}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GORACE", "XDG_RUNTIME_DIR", "ROOMGATE_DATA", "ROOMGATE_URL", "ROOMGATE_KEY"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

// findenv sets a variable from a file: findenv NAME PATTERN FILE, where the
// pattern has one group.
func findenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: findenv NAME PATTERN FILE")
	}
	found := regexp.MustCompile("(?m)" + args[1]).FindSubmatch(bytes.TrimSpace([]byte(ts.ReadFile(args[2]))))
	if found == nil {
		ts.Fatalf("%q is not in %s", args[1], args[2])
	}
	ts.Setenv(args[0], string(found[1]))
}

// TestEnvironmentIsCleared keeps settings of the developer's shell out of the
// scripts.
func TestEnvironmentIsCleared(t *testing.T) {
	for _, f := range environment {
		if os.Getenv(variable(f)) != "" {
			t.Errorf("%s is set: unset it to test", variable(f))
		}
	}
}

// code runs a command for its exit code: code 3 COMMAND...
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code NUMBER COMMAND...")
	}
	err := ts.Exec("sh", append([]string{"-c", `"$@"; test $? -eq ` + args[0], "sh"}, args[1:]...)...)
	if err != nil {
		ts.Fatalf("%v: not exit code %s", args[1:], args[0])
	}
}
