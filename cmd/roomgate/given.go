package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/atomicfile"

	"roomgate/cmd/roomgate/show"
)

// maxGiven bounds a text that a file gives to a command, as a configuration is bounded.
const maxGiven = 1 << 20

// openGiven opens a file that a command line names. A pipe or a device that has a name of its own would keep the
// command waiting; what the shell hands over is open already.
func openGiven(path string) (*os.File, error) {
	if handedOver(path) {
		return os.Open(path)
	}
	return atomicfile.Open(path, os.O_RDONLY)
}

// handedOver says whether a path is that of a descriptor which the command has from its shell.
func handedOver(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// readGiven reads a file that a command line names, - for the standard input, of at most so many bytes. A signal
// ends the waiting for who writes what the shell hands over.
func readGiven(cmd *cobra.Command, path string, most int64) ([]byte, error) {
	return heard(cmd.Context(), func() ([]byte, error) {
		in := cmd.InOrStdin()
		if path != "-" {
			f, err := openGiven(path)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			in = f
		}
		data, err := io.ReadAll(io.LimitReader(in, most+1))
		if err == nil && int64(len(data)) > most {
			err = fmt.Errorf("%s is larger than %s", path, show.Bytes(most))
		}
		return data, err
	})
}

// lineGiven is the first line of a file that a command line names, - for the standard input.
func lineGiven(cmd *cobra.Command, path string, most int64) (string, error) {
	data, err := readGiven(cmd, path, most)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}
