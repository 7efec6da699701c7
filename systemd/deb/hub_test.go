//go:build integration

package deb

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"roomgate/drivers/sim/plan"
)

// The hub of the printed path.
const (
	roleHub     = "hub"
	hubReady    = "ready\n"
	hubAddress  = "127.0.0.1:1899"
	hubPassword = "red line 7"
)

// serveHub is a sensor hub on the network of where it runs. It obeys what it reads, a
// line a command as `roomgate sim` takes it, until there is no more.
func serveHub() error {
	world, err := plan.Parse([]byte(fmt.Sprintf("parts: [{space: atlas, device: o3-sensor, part: o3, address: %q, username: user, password: %q}]", hubAddress, hubPassword)))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", hubAddress)
	if err != nil {
		return err
	}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := world.Dial(context.Background(), "tcp", hubAddress)
			if err != nil {
				_ = near.Close()
				continue
			}
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		}
	}()
	fmt.Print(hubReady)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if _, err := world.Control(words[0], words[1], words[2:]...); err != nil {
			return err
		}
	}
	return nil
}
