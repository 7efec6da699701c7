package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// idleTime is how long a process is left alone before its memory is read.
const idleTime = 6 * time.Second

// displays is a building that any machine can run: pages need no wires.
const displays = `gateway: {id: bench}
data: %s
http: {listen: "%s"}
broker: {listen: "%s"}
spaces:
  - {id: 00000000-0000-4000-8000-000000000001, name: One, devices: [{id: display-1, type: meeting-room-display, driver: display-page, options: {page: one}}]}
  - {id: 00000000-0000-4000-8000-000000000002, name: Two, devices: [{id: display-2, type: meeting-room-display, driver: display-page, options: {page: two}}]}
`

// contestant is a program that answers /readyz.
type contestant struct {
	name string
	args func(b *testing.B, web, broker string) []string // the command line
}

func contestants(b *testing.B) (bare, agent, demo contestant) {
	b.Helper()
	dir := b.TempDir()
	build := func(name, pkg string) string {
		out := filepath.Join(dir, name)
		c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := c.CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", pkg, err, text)
		}
		return out
	}
	gateway, least := build("roomgate", "."), build("bare", "./testdata/bare")
	bare = contestant{"bare", func(b *testing.B, web, broker string) []string {
		return []string{least, b.TempDir(), web, broker}
	}}
	agent = contestant{"agent", func(b *testing.B, web, broker string) []string {
		data := b.TempDir()
		conf := filepath.Join(data, "gateway.yaml")
		if err := os.WriteFile(conf, fmt.Appendf(nil, displays, data, web, broker), 0o600); err != nil {
			b.Fatal(err)
		}
		return []string{gateway, "run", "--config", conf}
	}}
	demo = contestant{"demo", func(b *testing.B, web, broker string) []string {
		return []string{gateway, "demo", "--data", b.TempDir(), "--listen", web, "--broker", broker, "--cloud-listen", freePort(b)}
	}}
	return bare, agent, demo
}

func freePort(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start runs the program until stop, and says how long it took to be ready.
func (c contestant) start(b *testing.B) (ready time.Duration, pid int, stop func()) {
	b.Helper()
	web := freePort(b)
	args := c.args(b, web, freePort(b))
	process := exec.Command(args[0], args[1:]...)
	began := time.Now()
	if err := process.Start(); err != nil {
		b.Fatal(err)
	}
	stop = func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	}
	for time.Since(began) < 20*time.Second {
		answer, err := http.Get("http://" + web + "/readyz")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return time.Since(began), process.Process.Pid, stop
			}
		}
		time.Sleep(500 * time.Microsecond)
	}
	stop()
	b.Fatalf("%s was not ready within 20 s", c.name)
	return 0, 0, nil
}

// BenchmarkStartToReady is the time from exec to the first good /readyz. The
// goal is 3 times the bare process.
func BenchmarkStartToReady(b *testing.B) {
	bare, agent, _ := contestants(b)
	var limit, ours []time.Duration
	for b.Loop() {
		for c, all := range map[*contestant]*[]time.Duration{&bare: &limit, &agent: &ours} {
			ready, _, stop := c.start(b)
			stop()
			*all = append(*all, ready)
		}
	}
	b.ReportMetric(middle(ours).Seconds()*1000, "agent-ms")
	b.ReportMetric(middle(limit).Seconds()*1000, "bare-ms")
	b.ReportMetric(middle(ours).Seconds()/middle(limit).Seconds(), "of-bare")
}

// BenchmarkIdleMemory is the resident memory of processes that nobody asks
// anything. The goal of the agent is twice the bare process.
func BenchmarkIdleMemory(b *testing.B) {
	bare, agent, demo := contestants(b)
	for b.Loop() {
		for _, c := range []contestant{bare, agent, demo} {
			_, pid, stop := c.start(b)
			time.Sleep(idleTime)
			b.ReportMetric(resident(b, pid), c.name+"-MB")
			stop()
		}
	}
}

// resident is the resident memory of a process in MB (1000 KiB), proc(5).
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("this system has no /proc")
	}
	for line := range strings.Lines(string(text)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1000
		}
	}
	b.Fatal("the process does not say its resident memory")
	return 0
}

// BenchmarkBinarySize is the stripped binary of each target. The goal is 20 MB.
func BenchmarkBinarySize(b *testing.B) {
	for b.Loop() {
		for _, target := range []string{"arm64", "arm", "amd64"} {
			out := filepath.Join(b.TempDir(), target)
			c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, ".")
			c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARM=7", "GOARCH="+target)
			if text, err := c.CombinedOutput(); err != nil {
				b.Fatalf("build for %s: %v\n%s", target, err, text)
			}
			info, err := os.Stat(out)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/1e6, target+"-MB")
		}
	}
}

func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
