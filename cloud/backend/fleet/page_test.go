package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"roomgate/cloud/backend"
)

// A large fleet is asked for in pages, each item on one of them, in order.
func TestPages(t *testing.T) {
	t.Parallel()
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), "mqtt://127.0.0.1:1")
	defer stop()
	var want []string
	for i := range 7 {
		id := fmt.Sprintf("g-%d", i)
		want = append(want, id)
		f.backend.Know(backend.Gateway{ID: id})
		err := f.store.Write(context.Background(), func(tx backend.Tables) error {
			if err := putJSON(tx.Table(claims), id, Claimed{Gateway: id}); err != nil {
				return err
			}
			s := Schedule{Gateway: id, MeetingSpaceID: "room"}
			return putJSON(tx.Table(schedules), s.place(), s)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, list := range []string{"gateways", "claims", "schedules"} {
		var got []string
		for next, pages := "", 0; pages == 0 || next != "" && pages < 10; pages++ {
			_, answer := ask(f, "secret", "GET", "/"+list+"?limit=3&from="+url.QueryEscape(next), "")
			var page map[string]json.RawMessage
			var items []struct {
				Gateway string `json:"gateway_id"`
			}
			if json.Unmarshal([]byte(answer), &page) != nil || json.Unmarshal(page[list], &items) != nil || json.Unmarshal(page["next"], &next) != nil || len(items) > 3 {
				t.Fatalf("%s is answered with %s", list, answer)
			}
			for _, i := range items {
				got = append(got, i.Gateway)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s in pages are %v: want %v", list, got, want)
		}
		if status, answer := ask(f, "secret", "GET", "/"+list+"?limit=0", ""); status != 422 || !strings.Contains(answer, "limit is") {
			t.Errorf("%s without a page: %d %s", list, status, answer)
		}
	}
	if _, answer := ask(f, "secret", "GET", "/gateways?from=g-5&limit=1", ""); !strings.Contains(answer, `"known":7`) || !strings.Contains(answer, `"gateway_id":"g-5"`) || !strings.Contains(answer, `"next":"g-6"`) {
		t.Errorf("from g-5 there is %s", answer)
	}
}
