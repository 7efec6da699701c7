package backup

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Cut off at any moment, a reset never leaves a state in which a start brings
// the building back: the secret goes first, the database after its snapshots.
func TestEraseInOrder(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{"roomgate.db.lock", "control.lock", "control.sock", ".device.secret-77", ".last-backup.json.new", "roomgate.db.before-schema-000001", "mine.txt", "before-restore/roomgate.db", "restore/new/roomgate.db", "releases/state.json", "tls/authority.pem", ".tls.new/root.crt", "tls.before/root.crt"} {
		h.write(filepath.Join(h.data, name), "x")
	}
	ours, others, err := Traces(h.data, "releases")
	if err != nil {
		t.Fatal(err)
	}
	if len(ours) != 14 || filepath.Base(ours[0]) != SecretName || filepath.Base(ours[13]) != DatabaseName {
		t.Errorf("removed in the order %v", ours)
	}
	if len(others) != 1 || filepath.Base(others[0]) != "mine.txt" {
		t.Errorf("others: %v", others)
	}
	if err := Erase(h.data, ours); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, _ := os.ReadDir(h.data)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{"control.lock", "mine.txt", "roomgate.db.lock"}) {
		t.Errorf("left: %v", left)
	}
	if ours, _, err := Traces(filepath.Join(h.data, "nowhere")); ours != nil || err != nil {
		t.Errorf("%v, %v", ours, err)
	}
}
