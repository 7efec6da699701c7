package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent"
	"roomgate/agent/update"
)

// architectures are the machines of ELF files by their names in Go, see elf(5).
var architectures = map[uint16]string{183: "arm64", 40: "arm", 62: "amd64"}

func newUpdateKey() *cobra.Command {
	return &cobra.Command{Use: "keygen FILE", Short: "make a key to sign bundles with", Args: cobra.ExactArgs(1),
		Long: `Writes the secret half of a new key to FILE, which is to be kept where releases
are made and nowhere else, and shows the public half, for update.keys in the
configuration of each gateway.`,
		RunE: action(func(cmd *cobra.Command, args []string) error {
			public, err := update.NewKey(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), public)
			return err
		})}
}

func newUpdateBundle() *cobra.Command {
	cmd := &cobra.Command{Use: "bundle BINARY FILE", Short: "make a signed bundle of a binary", Args: cobra.ExactArgs(2),
		Long: `Packs a binary that was built of the same source as this program, for this or
another architecture, and signs it.`,
		Example: "  roomgate update bundle --signing-key vendor.key bin/roomgate-linux-arm64 roomgate-1.5.0-arm64.bundle",
		RunE:    action(makeBundle)}
	cmd.Flags().String("signing-key", "", "`FILE` that roomgate update keygen wrote")
	cmd.Flags().String("release", version, "`VERSION` of the binary")
	_ = cmd.MarkFlagRequired("signing-key") // it is there
	return cmd
}

func makeBundle(cmd *cobra.Command, args []string) error {
	key, err := update.ReadKey(text(cmd, "signing-key"))
	if err != nil {
		return err
	}
	info, err := os.Stat(args[0])
	if err != nil {
		return err
	}
	if info.Size() > update.MaxBinary {
		return fail(exitFailed, "%s has %d bytes: want at most %d", args[0], info.Size(), update.MaxBinary)
	}
	program, err := readGiven(cmd, args[0], update.MaxBinary)
	if err != nil {
		return err
	}
	arch, err := architectureOf(program)
	if err != nil {
		return fail(exitFailed, "%s is no program for a gateway: %w", args[0], err)
	}
	m := update.Manifest{Version: text(cmd, "release"), OS: "linux", Arch: arch, Schema: agent.Schema, Created: time.Now()}
	var bundle bytes.Buffer
	if err := update.Write(&bundle, m, program, key); err != nil {
		return err
	}
	if err := os.WriteFile(args[1], bundle.Bytes(), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s for linux/%s, %d bytes\n", args[1], m.Version, arch, bundle.Len())
	return err
}

// architectureOf reads the head of an ELF file of little endian. debug/elf would read it all, and is large.
func architectureOf(program []byte) (string, error) {
	if len(program) < 52 || !bytes.HasPrefix(program, []byte("\x7fELF")) || program[5] != 1 {
		return "", errors.New("it is no ELF file of little endian")
	}
	machine := binary.LittleEndian.Uint16(program[18:])
	arch, ok := architectures[machine]
	if !ok {
		return "", fmt.Errorf("its machine is %d", machine)
	}
	return arch, nil
}
