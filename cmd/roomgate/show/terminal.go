package show

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Terminal is where a person is told and asked.
type Terminal struct {
	Out io.Writer // takes what is told and asked; not where JSON goes
	in  *bufio.Reader
}

// NewTerminal reads answers from in. What is told has no controls but the ends of lines.
func NewTerminal(in io.Reader, out io.Writer) *Terminal {
	return &Terminal{plainLines{out}, bufio.NewReaderSize(in, 4<<10)}
}

// ErrNobody is returned by Line where an answer is waited for and none can come.
var ErrNobody = errors.New("nobody answers here")

// longestLine bounds what a person may say, in bytes.
const longestLine = 1000

// Line asks for a line. A reader cannot be told to stop, so it is left behind
// when ctx ends, which ends the program.
func (t *Terminal) Line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(t.Out, prompt)
	type said struct {
		line string
		err  error
	}
	heard := make(chan said, 1)
	go func() {
		line, err := t.in.ReadString('\n')
		if errors.Is(err, io.EOF) && line != "" {
			err = nil
		}
		heard <- said{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.Out)
		return "", context.Cause(ctx)
	case s := <-heard:
		if errors.Is(s.err, io.EOF) {
			fmt.Fprintln(t.Out)
			return "", ErrNobody
		}
		line := strings.TrimSpace(s.line)
		return line[:min(len(line), longestLine)], s.err
	}
}

// Secret asks for a line and ends it on the screen, where it is not shown.
func (t *Terminal) Secret(ctx context.Context, prompt string) (string, error) {
	line, err := t.Line(ctx, prompt)
	if err == nil {
		fmt.Fprintln(t.Out)
	}
	return line, err
}
