package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"
)

// askControl asks the gateway of $ROOMGATE_DATA at its control socket: ask
// METHOD PATH [BODY]. The answer is the standard output of nothing, but in the
// log.
func askControl(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: ask METHOD PATH [BODY]")
	}
	c := overSocket(filepath.Join(ts.Getenv("ROOMGATE_DATA"), socketName), answerTime)
	r, err := http.NewRequest(args[0], c.base+args[1], strings.NewReader(strings.Join(args[2:], "")))
	if err != nil {
		ts.Fatalf("%v", err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		ts.Fatalf("%v", err)
	}
	defer answer.Body.Close()
	raw, _ := io.ReadAll(answer.Body)
	ts.Logf("%s\n%s", answer.Status, raw)
	if (answer.StatusCode >= 400) != neg {
		ts.Fatalf("%s %s: %s", args[0], args[1], answer.Status)
	}
}

// hides wants none of the words in a file, also not inside of compressed parts
// and not encoded: hides FILE WORD...
func hides(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: hides FILE WORD...")
	}
	found := searchAll([]byte(ts.ReadFile(args[0])), args[0], args[1:])
	if neg != (len(found) > 0) {
		ts.Fatalf("found: %s", strings.Join(found, "\n"))
	}
}

// searchAll looks for the words, whatever their case, in data and in what is
// packed in it.
func searchAll(data []byte, where string, words []string) (found []string) {
	small := bytes.ToLower(data)
	for _, w := range words {
		for _, form := range forms(w) {
			if at := bytes.Index(small, bytes.ToLower([]byte(form))); at >= 0 {
				found = append(found, fmt.Sprintf("%s in %s: …%q…", w, where, data[max(0, at-60):min(len(data), at+80)]))
			}
		}
	}
	// The names of files are in the tar itself.
	if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		if inside, err := io.ReadAll(z); err == nil {
			found = append(found, searchAll(inside, where+" unzipped", words)...)
		}
	}
	for t := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := t.Next()
		if err != nil {
			return found
		}
		if inside, err := io.ReadAll(t); err == nil {
			found = append(found, searchAll(inside, where+" "+h.Name, words)...)
		}
	}
}

// forms are how a word may be written: plain, in hexadecimal, and in base64 at
// each of the three offsets.
func forms(word string) []string {
	all := []string{word, hex.EncodeToString([]byte(word))}
	for offset := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), word...))
		all = append(all, text[offset+1:len(text)-2])
	}
	return all
}

// TestHidesFinds proves that the search above can find.
func TestHidesFinds(t *testing.T) {
	pack := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		_ = w.WriteHeader(&tar.Header{Name: "a", Size: int64(len(text)), Mode: 0o600})
		_, _ = io.WriteString(w, text)
		_ = errors.Join(w.Close(), z.Close())
		return b.Bytes()
	}
	for _, text := range []string{"xx CANARYsecret yy", hex.EncodeToString([]byte("-canarysecret-")),
		base64.StdEncoding.EncodeToString([]byte("-canarysecret-")), base64.StdEncoding.EncodeToString([]byte("--canarysecret")), string(pack("a canarysecret"))} {
		if len(searchAll(pack(text), "file", []string{"canarysecret"})) == 0 {
			t.Errorf("not found in %q", text)
		}
	}
	if found := searchAll(pack("nothing"), "file", []string{"canarysecret"}); found != nil {
		t.Errorf("found %v", found)
	}
}

// plain wants nothing in a file that steers a terminal, or turns a text around:
// plain FILE.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plain FILE")
	}
	for _, r := range ts.ReadFile(args[0]) {
		if r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			ts.Fatalf("%U is in %s", r, args[0])
		}
	}
}
