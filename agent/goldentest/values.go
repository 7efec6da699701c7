package goldentest

import (
	"fmt"
	"reflect"
)

// Pairs are values that a test has made, and what they should be, by name.
type Pairs map[string][2]any

// Values compares pairs. A constant needs no type: texts are compared as such, everything
// else by how it is printed. A failure says which value of what is wrong. t is a
// [testing.T], or who stands for one.
func Values(t interface {
	Helper()
	Errorf(format string, args ...any)
}, what string, all Pairs) {
	t.Helper()
	for name, v := range all {
		if !same(v[0], v[1]) {
			t.Errorf("%s: %s is %v, want %v", what, name, v[0], v[1])
		}
	}
}

// same compares texts by themselves, since a secret is printed as another is.
func same(got, want any) bool {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Kind() == reflect.String && w.Kind() == reflect.String {
		return g.String() == w.String()
	}
	return fmt.Sprint(got) == fmt.Sprint(want)
}
