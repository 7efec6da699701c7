package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"roomgate/cloud/cell"
)

// Gateways that a fleet admits at the same time all have a place and a login that the brokers' files know; the
// password of a gateway is in no file, that of a new backend is.
func TestFleetAdmits(t *testing.T) {
	dir := t.TempDir()
	admit := cell.Folder(dir).Admit
	const n = 12
	passwords := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			user, password, err := admit(fmt.Sprint("g-", i))
			if err != nil || user != fmt.Sprint("g-", i) {
				t.Errorf("%s, %v", user, err)
			}
			passwords[i] = password
		})
	}
	all.Wait()
	logins, err := cell.Folder(dir).Read()
	if err != nil || len(logins.Gateways) != n {
		t.Fatalf("%v: %d gateways are admitted: want %d", err, len(logins.Gateways), n)
	}
	accounts, err := os.ReadFile(filepath.Join(dir, "accounts.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range logins.Gateways {
		var number int
		_, _ = fmt.Sscanf(l.User, "g-%d", &number)
		if bcrypt.CompareHashAndPassword([]byte(l.Bcrypt), []byte(passwords[number])) != nil || !strings.Contains(string(accounts), l.Bcrypt) {
			t.Errorf("%s cannot log in with the password that it was given", l.User)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.password"))
	if want := filepath.Join(dir, cell.BackendUser(1)+".password"); len(files) != 1 || files[0] != want {
		t.Errorf("the passwords in files are %v: want %s", files, want)
	}
	if _, _, err := admit("a/b"); err == nil {
		t.Error("a/b is admitted")
	}
	for _, id := range []string{"g-1", "a/b"} {
		if there, err := cell.Folder(dir).Admitted(id); err != nil || there != (id == "g-1") {
			t.Errorf("%s is admitted: %v, %v", id, there, err)
		}
	}
}
