package engine

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// process is a broker in a process of its own, which can be killed.
type process struct {
	t    *testing.T
	path string
	args []string
	env  []string
	dir  string
	says *os.File // what it logs
	cmd  *exec.Cmd
}

// start starts it.
func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.dir, append(os.Environ(), p.env...), p.says, p.says
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
}

// end ends it by a signal, if it runs.
func (p *process) end(by syscall.Signal) {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(by)
	_ = p.cmd.Wait()
	p.cmd = nil
}

// hup lets it read its files again.
func (p *process) hup() { _ = p.cmd.Process.Signal(syscall.SIGHUP) }

// freeAddress is an address at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// until waits until something holds.
func until(t *testing.T, what string, patience time.Duration, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%v have passed: %s", patience, what)
}

// listens says whether somebody listens at an address.
func listens(address string) bool {
	c, err := net.Dial("tcp", address)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}
