package main

import (
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"roomgate/agent/config"
	"roomgate/drivers/all"
)

// A port that takes a right is refused to whoever has not got it.
func TestPrivilegedPort(t *testing.T) {
	c, err := config.Parse("gateway.yaml", []byte("gateway: {id: g}\nhttp: {listen: ':81'}\nbroker: {listen: '127.0.0.1:0'}\n"), all.All())
	if err != nil {
		t.Fatal(err)
	}
	if firstFreePort() <= 81 {
		t.Skip("everybody may take any port here: net.ipv4.ip_unprivileged_port_start")
	}
	seen := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its rights
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&header, &none[0]); err != nil {
			t.Error(err)
		}
		seen <- cannotWork(t.Context(), c, "gateway.yaml")
	}()
	if err := <-seen; err == nil || !strings.HasPrefix(err.Error(), `gateway.yaml:2:16: http.listen is ":81": a port below `) || strings.Contains(err.Error(), "\n") {
		t.Errorf("it says %v", err)
	}
}
