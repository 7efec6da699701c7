package pull

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Backends come, share out evenly, die and end; nobody's partition is another one's too.
func TestShares(t *testing.T) {
	const partitions = 16
	table, now := shares{}, time.Now()
	has, seen := map[string][]int{}, map[string]observer{}
	round := func(names ...string) {
		for range 4 {
			now = now.Add(beatEvery)
			for _, name := range names {
				if seen[name] == nil {
					seen[name] = observer{}
				}
				seen[name].see(table, now)
				mine, more := table.take(name, has[name], partitions)
				has[name] = slices.DeleteFunc(slices.Clone(mine), func(p int) bool { return slices.Contains(more, p) }) // it ends at once
			}
		}
		owner := map[int]string{}
		for name, is := range table {
			for _, p := range is.Has {
				if other, ok := owner[p]; ok {
					t.Fatalf("partition %d is that of %s and %s", p, name, other)
				}
				owner[p] = name
			}
		}
	}
	counts := func(want string, names ...string) {
		t.Helper()
		var got []int
		for _, name := range names {
			got = append(got, len(table[name].Has))
		}
		if text := fmt.Sprint(got); text != want {
			t.Errorf("they have %s partitions: want %s", text, want)
		}
	}
	round("a")
	counts("[16]", "a")
	round("a", "b")
	counts("[8 8]", "a", "b")
	round("a", "b", "c")
	counts("[6 6 4]", "a", "b", "c")
	round("a", "b") // c says nothing, for 4 s
	counts("[6 6 4]", "a", "b", "c")
	round("a", "b")
	round("a", "b")
	counts("[8 8 0]", "a", "b", "c")
	delete(table, "b") // it has said that it ends
	has["b"] = nil
	round("a")
	counts("[16]", "a")
	round("a", "c") // which thinks that it has what it had
	counts("[8 8]", "a", "c")
}

// The subject of a message is its topic.
func TestTopicOf(t *testing.T) {
	for subject, want := range map[string]string{
		"up.3.hq.event":                   "roomgate/v1/hq/up/event",
		"up.15.berlin//3.state.7c0b-2a54": "roomgate/v1/berlin.3/up/state/7c0b-2a54",
		"up.3.hq":                         "",
		"up.3.h q.event":                  "",
	} {
		topic, _, ok := topicOf(subject)
		if ok != (want != "") || ok && topic != want {
			t.Errorf("%s is %q, %v: want %q", subject, topic, ok, want)
		}
	}
}
