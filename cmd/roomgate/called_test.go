package main

import "testing"

// TestCalledAs: the next command is printed as this program was called, and nothing else that has
// its name.
func TestCalledAs(t *testing.T) {
	for text, want := range map[string]string{
		"roomgate: there is none: see roomgate webhook list":      "roomgate: there is none: see bin/roomgate webhook list",
		"fix: sudo systemctl restart roomgate && roomgate doctor": "fix: sudo systemctl restart roomgate && bin/roomgate doctor",
		`start "roomgate demo" or (roomgate run)`:                 `start "bin/roomgate demo" or (bin/roomgate run)`,
		"roomgate has no command \"devcie\"":                      "roomgate has no command \"devcie\"",
		"usermod -aG roomgate $USER":                              "usermod -aG roomgate $USER",
		"/usr/bin/roomgate doctor":                                "/usr/bin/roomgate doctor",
	} {
		if got := calledAs("bin/roomgate", text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := calledAs("roomgate", text); got != text {
			t.Errorf("%q is %q for who has it in the path", text, got)
		}
	}
}
