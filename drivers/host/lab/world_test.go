//go:build lab

package lab

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"

	"roomgate/drivers/sim/plan"
)

// controlPort is where the world of a gateway is moved from outside.
const controlPort = ":7000"

// serveWorld wires the world of a file to the board and obeys whoever
// connects, a line a command, an answer a line:
//
//	SPACE SUBJECT VERB..   as `roomgate sim` takes it
//	log                    the board's log, ended by an empty line
//	tell COMMAND..         to the board
func serveWorld(args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	w, err := plan.Parse(text)
	if err != nil {
		return err
	}
	o, err := attach(w)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", controlPort)
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go o.obey(c)
	}
}

func (o *outside) obey(c net.Conn) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 1 {
			continue
		}
		switch words[0] {
		case "log":
			for _, e := range o.entries() {
				fmt.Fprintf(c, "%d %s\n", e.at.UnixNano(), e.text)
			}
			fmt.Fprintln(c)
		case "tell":
			fmt.Fprintln(c, "told", o.tell(strings.Join(words[1:], " ")))
		default:
			fmt.Fprintln(c, o.control(words))
		}
	}
}

func (o *outside) control(words []string) string {
	if len(words) < 2 {
		return "error: want SPACE SUBJECT VERB"
	}
	answer, err := o.world.Control(words[0], words[1], words[2:]...)
	if err != nil {
		return "error: " + err.Error()
	}
	return answer
}
