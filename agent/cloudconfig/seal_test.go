package cloudconfig

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"testing"

	"roomgate/agent/auth"
	"roomgate/agent/goldentest"
	"roomgate/store"
)

// TestWhatTheCloudManagesIsSealed opens what an earlier version has stored, and then
// the same without its device secret: what cannot be read is kept, and the cloud's
// configuration is wanted once more.
func TestWhatTheCloudManagesIsSealed(t *testing.T) {
	db, _, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	mine, _ := auth.NewKeys(bytes.Repeat([]byte("a"), auth.SecretSize))
	others, _ := auth.NewKeys(bytes.Repeat([]byte("b"), auth.SecretSize))
	const url, topic = "https://updates.example/1?token=canary", "canary-topic"
	update := func(f func(tx *store.Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx *store.Tx) error {
		return table.Put(tx, current, storedConfig{Revision: 7, Update: url, Users: []downUser{{ID: "ada", PushTopic: topic}, {ID: "ann"}}})
	})
	for range 2 {
		if err := Seal(t.Context(), db, mine, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	if n := db.Stats().Commits; n > 3 {
		t.Errorf("%d commits, the second start writes again", n)
	}
	read := func(keys *auth.Keys) (raw, c storedConfig) {
		t.Helper()
		err := db.View(func(tx *store.Tx) (err error) {
			if raw, err = table.Get(tx, current); err == nil {
				c, err = readRow(tx, keys)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return raw, c
	}
	raw, c := read(mine)
	if raw.plain() || len(raw.Sealed.Update) == 0 || len(raw.Sealed.Topics) == 0 {
		t.Errorf("it is stored as %+v", raw)
	}
	goldentest.Values(t, "it is read", goldentest.Pairs{"Update": {c.Update, url},
		"Users[0].PushTopic": {c.Users[0].PushTopic, topic}, "Users[1].PushTopic": {c.Users[1].PushTopic, ""},
		"Again": {c.Again, false}, "Revision": {c.Revision, 7}})
	_, lost := read(others)
	if lost.Update != "" || lost.Users[0].PushTopic != "" || !lost.Again {
		t.Errorf("under another secret it is read as %+v", lost)
	}
	update(func(tx *store.Tx) error { return lost.put(tx, others) })
	if _, back := read(mine); back.Update != url || back.Users[0].PushTopic != topic {
		t.Errorf("the secret is back, and it is read as %+v", back)
	}
}
