package filter

import "testing"

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		filter, topic string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a", false}, {"a/b", "a/b/c", false}, {"a/b", "A/b", false},
		{"a/+", "a/b", true}, {"a/+", "a", false}, {"a/+/c", "a/b/c", true}, {"a/+", "a/", true}, {"+", "/a", false},
		{"a/#", "a/b/c", true}, {"a/#", "a", true}, {"a/#", "ab", false}, {"#", "a/b", true},
		{"a/+/set/#", "a/b/set", true}, {"a/+/set/#", "a/set", false},
		{"#", "$SYS/a", false}, {"+/a", "$SYS/a", false}, {"$SYS/#", "$SYS/a", true},
		{"a/#", "a/#", false}, {"a/+", "a/+", false}, // no topics
	} {
		if got := Matches(c.filter, c.topic); got != c.want {
			t.Errorf("%s stands for %s: %t", c.filter, c.topic, got)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		filter, other string
		want          bool
	}{
		{"a/#", "a/#", true}, {"a/#", "a", true}, {"a/#", "a/+/b", true}, {"a/#", "#", false}, {"a/#", "+/b", false},
		{"a/+", "a/+", true}, {"a/+", "a/#", false}, {"a/+", "a/b/#", false}, {"+/b", "a/b", true}, {"a/b", "a/+", false},
		{"+/#", "#", false}, {"#", "+/#", true}, {"#", "#", true}, {"a/+/#", "a/#", false}, {"a/+/#", "a/b/#", true},
		{"a//b", "a/+/b", false}, {"a/+/b", "a//b", true}, {"#", "$SYS/#", false}, {"A/#", "a/#", false},
	} {
		if got := Covers(c.filter, c.other); got != c.want {
			t.Errorf("%s stands for all of %s: %t", c.filter, c.other, got)
		}
	}
}

func TestValid(t *testing.T) {
	for filter, want := range map[string]bool{
		"#": true, "a/#": true, "+": true, "a/+/b": true, "/": true, "a//b": true,
		"": false, "a#": false, "#/a": false, "a+/b": false, "$SYS/#": false, "$share/g/a": false, "a\x00": false,
	} {
		if got := Valid(filter); got != want {
			t.Errorf("%q is a filter: %t", filter, got)
		}
	}
}
