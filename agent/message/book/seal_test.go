package book

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/message"
	"roomgate/store"
)

// rawRows are all rows of the messages and of the log, as they are stored.
func (r *rig) rawRows(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := r.db.View(func(tx *store.Tx) error {
		for _, row := range store.NewTable[json.RawMessage]("messages").All(tx) {
			all.Write(row)
		}
		return tx.Err()
	})
	rows, e := r.log.Page(0, 1000)
	if err != nil || e != nil {
		t.Fatal(err, e)
	}
	for _, row := range rows {
		all.Write(row.Value.Data)
	}
	return all.String()
}

// TestTopicsAreSealed: no row tells a topic, of who is named by one nor of a person, and the
// push gateway gets it, also after a restart. What an earlier version stored in clear is
// sealed by the first start.
func TestTopicsAreSealed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: t.TempDir()}
		r := openRig(t, o)
		for _, to := range []message.To{{Topic: "kitchen-42"}, {UserID: "ada"}} {
			if _, err := r.Send(t.Context(), message.Request{To: to, Title: "Tea", Body: "is ready"}, to.UserID); err != nil {
				t.Fatal(err)
			}
		}
		secret := func(when string) {
			t.Helper()
			raw := r.rawRows(t)
			if strings.Contains(raw, `"kitchen-42"`) || strings.Contains(raw, "ada-phone") {
				t.Errorf("%s a topic is in clear in %s", when, raw)
			}
			if strings.Count(raw, "is ready") != 4 {
				t.Errorf("%s the search finds nothing at all", when)
			}
		}
		secret("at once")
		all, _, err := r.List("", 0, "")
		if err != nil || len(all) != 2 || all[1].To.Topic != "kitchen-42" {
			t.Fatalf("%+v, %v", all, err)
		}
		plain := all[1].Message
		err = r.db.Update(t.Context(), func(tx *store.Tx) error { // as an earlier version has it
			s, err := messages.Get(tx, plain.ID)
			s.Message, s.Topic, s.Sealed = plain, "kitchen-42", nil
			if err != nil {
				return err
			}
			return messages.Put(tx, plain.ID, s)
		})
		if err != nil || !strings.Contains(r.rawRows(t), "kitchen-42") {
			t.Fatal("the row of the earlier version is not there", err)
		}
		r.stop()
		r = startRig(t, o)
		secret("after a restart")
		r.wait(2 * time.Second)
		if got := strings.Join(r.pushed(), ", "); !strings.Contains(got, "kitchen-42") || !strings.Contains(got, "ada-phone") {
			t.Errorf("pushed %q", got)
		}
		secret("after it was pushed")
	})
}

// TestTopicsOfAnotherGateway: what cannot be read goes nowhere, and says so.
func TestTopicsOfAnotherGateway(t *testing.T) {
	others, _ := auth.NewKeys(bytes.Repeat([]byte("o"), auth.SecretSize))
	mine, _ := auth.NewKeys(bytes.Repeat([]byte("k"), auth.SecretSize))
	s := storedMessage{Message: message.Message{ID: "m1"}, Topic: "kitchen-42"}.seal(others)
	if got := s.open(mine); got.Topic != "" || len(got.seal(mine).Sealed) == 0 || !bytes.Equal(got.seal(mine).Sealed, s.Sealed) {
		t.Errorf("opened as %+v", got)
	}
	if got := s.open(others); got.Topic != "kitchen-42" {
		t.Errorf("opened by its own as %+v", got)
	}
}
