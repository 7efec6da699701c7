package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"runtime/debug"

	"roomgate/agent/atomicfile"
)

// What a Go program was built from stands in it behind a magic text. debug/buildinfo, which
// judges this in a test, brings the readers of all kinds of programs and of their debug data
// with it: 420 kB of this one.
const (
	buildMagic  = "\xff Go buildinf:"
	buildFlags  = 15 // where the flags stand, from the magic on
	buildInline = 2  // the flag of what follows at once, as since Go 1.18
	buildHeader = 32 // the size of magic, flags and zeros; two texts follow, each with its length before it
	buildMark   = 16 // bytes around the second text
)

// maxProgram bounds a program that is read, in bytes.
const maxProgram = 256 << 20

// buildOf is what a program was built from: the one of a file, or this one
// without a name.
func buildOf(file string) (*debug.BuildInfo, error) {
	if file != "" {
		program, err := atomicfile.Read(file, os.O_RDONLY, maxProgram)
		if err != nil {
			return nil, fail(exitFailed, "%s cannot be read: %v", file, err)
		}
		info, err := readBuild(program)
		if err != nil {
			return nil, fail(exitFailed, "%s does not say what it was built from: %v", file, err)
		}
		return info, nil
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, fail(exitFailed, "this program was built without saying from what: take one of a release")
	}
	return info, nil
}

// readBuild reads it of a program. The magic text alone may stand elsewhere, as in this program.
func readBuild(program []byte) (*debug.BuildInfo, error) {
	err := errors.New("it is not a program built by Go 1.18 or later")
	for {
		at := bytes.Index(program, []byte(buildMagic))
		if at < 0 {
			return nil, err
		}
		program = program[at:]
		version, modules, ok := buildTexts(program)
		if ok {
			var info *debug.BuildInfo
			if info, err = debug.ParseBuildInfo(modules); err == nil {
				info.GoVersion = version
				return info, nil
			}
		}
		program = program[len(buildMagic):]
	}
}

// buildTexts are the version of Go and the list of modules behind a magic text.
func buildTexts(data []byte) (version, modules string, ok bool) {
	if len(data) < buildHeader || data[buildFlags]&buildInline == 0 || len(bytes.Trim(data[buildFlags+1:buildHeader], "\x00")) > 0 {
		return "", "", false
	}
	version, rest, ok := cutText(data[buildHeader:])
	if !ok {
		return "", "", false
	}
	modules, _, ok = cutText(rest)
	if !ok || len(modules) < 2*buildMark {
		return "", "", false
	}
	return version, modules[buildMark : len(modules)-buildMark], true
}

// cutText takes a text with its length before it.
func cutText(data []byte) (text string, rest []byte, ok bool) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)-size) {
		return "", nil, false
	}
	data = data[size:]
	return string(data[:n]), data[n:], true
}
