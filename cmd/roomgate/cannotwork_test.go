package main

import (
	"errors"
	"runtime"
	"slices"
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

// TestLinesOfACopy: of a copied space the ids, the name and the lines are told in one pass; where more is
// wrong no driver is asked.
func TestLinesOfACopy(t *testing.T) {
	const space = "  - {id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, devices: [{id: door, type: lock, driver: lock-relay, options: {relay: GPIO17}}]}\n"
	for text, want := range map[string][]string{
		space + space: {"spaces[1].id is that", "spaces[1].name is", `spaces[1].devices[0].id is "door", which another device has`, `spaces[1].devices[0].options.relay is "GPIO17", which is the line of door too`},
		space + strings.Replace(space, "relay: GPIO17", "rely: GPIO17", 1): {"spaces[1].id is that", "spaces[1].name is", `spaces[1].devices[0].id is "door", which another device has`, `unknown key "rely"`},
		space: nil,
	} {
		c, err := config.Parse("gateway.yaml", []byte("gateway: {id: g}\nspaces:\n"+text), all.All())
		var found *config.Errors
		if err = withBoard(t.Context(), c, "gateway.yaml", err); err != nil && !errors.As(err, &found) {
			t.Fatal(err)
		}
		var got []string
		if found != nil {
			for _, p := range found.Problems {
				got = append(got, p.Message)
			}
		}
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}
