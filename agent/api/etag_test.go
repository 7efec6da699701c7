package api

import "testing"

func TestHeld(t *testing.T) {
	const tag = `"xyzzy"`
	for _, c := range []struct {
		lines []string
		want  bool
	}{
		{nil, false}, {[]string{""}, false}, {[]string{tag}, true}, {[]string{`W/"xyzzy"`}, true}, {[]string{"*"}, true}, {[]string{" * "}, true},
		{[]string{`"other"`}, false}, {[]string{`"other", "xyzzy"`}, true}, {[]string{`"other",W/"xyzzy","third"`}, true},
		{[]string{`"other"`, `W/"xyzzy"`}, true}, {[]string{` ,, "xyzzy" ,`}, true},
		{[]string{`"a, \"xyzzy`, `b"`}, false}, {[]string{`"not,"xyzzy"`}, false}, {[]string{"xyzzy"}, false}, {[]string{`"xyzz"`}, false},
		{[]string{`w/"xyzzy"`}, false}, {[]string{`W/ "xyzzy"`}, false}, {[]string{`"other" "xyzzy`}, false}, {[]string{`"a, *"`}, false},
	} {
		for _, tag := range []string{tag, "W/" + tag} {
			if got := held(c.lines, tag); got != c.want {
				t.Errorf("%q names %s: %v, want %v", c.lines, tag, got, c.want)
			}
		}
	}
}
