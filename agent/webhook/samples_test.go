package webhook

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// samplesPage is where receivers find how a signature is checked.
const samplesPage = "../api/README.md"

// runs is what makes a program of a sample that is given the file of a body, a
// signature and a secret, and ends with 0 if they fit.
var runs = map[string]struct{ tool, file, before, after string }{
	"go": {"go", "main.go", `package main

import ("crypto/hmac"; "crypto/sha256"; "encoding/hex"; "os")
`, `
func main() {
	body, err := os.ReadFile(os.Args[1])
	if err != nil || !verify(body, os.Args[2], os.Args[3]) { os.Exit(1) }
}
`},
	"js": {"node", "main.js", "", `
const [, , file, signature, secret] = process.argv;
process.exit(verify(require("node:fs").readFileSync(file), signature, secret) ? 0 : 1);
`},
	"sh": {"sh", "main.sh", "", `
verify "$1" "$2" "$3"
`},
}

var sample = regexp.MustCompile("(?s)```(go|js|sh)\n((?:[^`]*)verify[^`]*)```")

// The three ways to check a signature that the page shows take what the gateway
// sends, and nothing else.
func TestSamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile(samplesPage)
	if err != nil {
		t.Fatal(err)
	}
	found := sample.FindAllStringSubmatch(string(page), -1)
	if len(found) != len(runs) {
		t.Fatalf("%d samples on the page, want %d", len(found), len(runs))
	}
	for _, s := range found {
		t.Run(s[1], func(t *testing.T) {
			t.Parallel()
			if n := strings.Count(s[2], "\n"); n > 10 {
				t.Errorf("it has %d lines", n)
			}
			checkSample(t, s[1], s[2])
		})
	}
}

func checkSample(t *testing.T, language, text string) {
	how := runs[language]
	tool, err := exec.LookPath(how.tool)
	if err != nil {
		t.Skip(how.tool + " is not installed (.ci/install does it), so the sample was not tried")
	}
	dir := t.TempDir()
	program, body, spoilt := filepath.Join(dir, how.file), filepath.Join(dir, "body"), filepath.Join(dir, "spoilt")
	payload, err := TestPayload(Webhook{ID: "w", OrganizationID: owner}, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{program: how.before + text + how.after, body: string(payload), spoilt: string(payload) + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := []string{tool, program}
	if language == "go" {
		binary := filepath.Join(dir, "sample")
		if out, err := exec.Command(tool, "build", "-o", binary, program).CombinedOutput(); err != nil {
			t.Fatalf("it does not build: %v, %s", err, out)
		}
		command = []string{binary}
	}
	for _, secret := range []Secret{NewSecret(), "a secret of our own"} {
		h := http.Header{}
		sign(h, "id", payload, []Secret{secret}, time.Now())
		signature := h.Get(HeaderSignature)
		for _, c := range []struct {
			name, body, signature, secret string
			good                          bool
		}{
			{"as it came", body, signature, string(secret), true},
			{"another body", spoilt, signature, string(secret), false},
			{"another secret", body, signature, "another secret", false},
			{"another signature", body, strings.Repeat("0", len(signature)), string(secret), false},
			{"half a signature", body, signature[:32], string(secret), false},
			{"no signature", body, "", string(secret), false},
		} {
			out, err := exec.Command(command[0], append(command[1:len(command):len(command)], c.body, c.signature, c.secret)...).CombinedOutput()
			if (err == nil) != c.good {
				t.Errorf("%s: %v, %s", c.name, err, out)
			}
		}
	}
}
