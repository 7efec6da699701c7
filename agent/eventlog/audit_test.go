package eventlog

import (
	"errors"
	"strings"
	"testing"
	"time"

	"roomgate/store"
)

// TestAudit: the event of a context is written with the change or not at all, and each change
// adds what it knows to its own.
func TestAudit(t *testing.T) {
	l := open(t, 10)
	ctx := l.WithAudit(t.Context(), Record{Type: "userCreated", Time: time.Unix(1, 0), Device: GatewayDevice, Details: map[string]any{"by": "Ada"}})
	failed := errors.New("refused")
	for _, c := range []struct {
		about map[string]any
		err   error
	}{{map[string]any{"user_id": "u1"}, nil}, {map[string]any{"name": "x"}, failed}, {nil, nil}} {
		err := l.db.Update(ctx, func(tx *store.Tx) error { return errors.Join(Audit(ctx, tx, c.about), c.err) })
		if !errors.Is(err, c.err) {
			t.Error(err)
		}
	}
	if err := l.db.Update(t.Context(), func(tx *store.Tx) error { return Audit(t.Context(), tx, nil) }); err != nil {
		t.Error(err)
	}
	found, _, err := l.Find(Filter{Limit: 10})
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if first, second := string(found[0].Record), string(found[1].Record); !strings.Contains(first, `"user_id":"u1"`) ||
		!strings.Contains(first, `"by":"Ada"`) || !strings.Contains(second, `"by":"Ada"`) || strings.Contains(second, "u1") {
		t.Errorf("%s, %s", first, second)
	}
}
