package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"roomgate/cloud/backend"
)

// Who begins to look begins at the newest rows, and goes on from there.
func TestNewestRows(t *testing.T) {
	t.Parallel()
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), "mqtt://127.0.0.1:1")
	defer stop()
	numbers := func(query string) (all []uint64) {
		t.Helper()
		status, answer := ask(f, "secret", "GET", "/rows"+query, "")
		var got struct{ Rows []Row }
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != 200 || got.Rows == nil {
			t.Errorf("%s answers %d %s", query, status, answer)
		}
		for _, r := range got.Rows {
			all = append(all, r.Number)
		}
		return all
	}
	if got := numbers("?newest=3"); len(got) > 0 {
		t.Errorf("before the first row there are %v", got)
	}
	for i := range 9 { // five are kept
		m := backend.Received{Gateway: "hq"}
		m.ID = fmt.Sprint(i)
		if err := f.store.Write(context.Background(), func(tx backend.Tables) error { return f.keep(tx.Table(rows), m) }); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string][]uint64{"?newest=3": {7, 8, 9}, "?newest=1000": {5, 6, 7, 8, 9}, "?after=8": {9}} {
		if got := numbers(query); !slices.Equal(got, want) {
			t.Errorf("%s answers %v: want %v", query, got, want)
		}
	}
	for _, bad := range []string{"0", "1001", "x"} {
		if status, answer := ask(f, "secret", "GET", "/rows?newest="+bad, ""); status != 422 || !strings.Contains(answer, "1 to 1000") {
			t.Errorf("%s answers %d %s", bad, status, answer)
		}
	}
}
