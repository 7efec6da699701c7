package config

import (
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Keys returns the keys that the struct v (or what it points to) takes in a
// file, dotted, with lists as "spaces[].name".
func Keys(v any) []string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return keysOf(t, "")
}

func keysOf(t reflect.Type, prefix string) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		if t.Kind() == reflect.Slice {
			prefix += "[]"
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || isLeaf(t) {
		return []string{prefix}
	}
	var keys []string
	for name, f := range fields(t) {
		keys = append(keys, keysOf(f.Type, join(prefix, name))...)
	}
	return keys
}

// join adds a name to the key of what holds it.
func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// parts yields the names of a dotted key.
func parts(key string) iter.Seq[string] { return strings.SplitSeq(key, ".") }

// fields yields the fields of a struct by the name that a file gives them,
// those of inlined structs with them.
func fields(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if !f.IsExported() || name == "-" || options == "inline" || !reachable(t, f.Index) {
				continue
			}
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			if !yield(name, f) {
				return
			}
		}
	}
}

// reachable says whether every struct on the way to a field is inlined.
func reachable(t reflect.Type, index []int) bool {
	for i := 1; i < len(index); i++ {
		if _, options, _ := strings.Cut(t.FieldByIndex(index[:i]).Tag.Get("yaml"), ","); options != "inline" {
			return false
		}
	}
	return true
}

// find returns the field of a struct that a file calls name.
func find(v reflect.Value, name string) (reflect.Value, bool) {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	for known, f := range fields(v.Type()) {
		if known == name {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}

// unknown notes a key that no field has.
func (r *reader) unknown(at Origin, t reflect.Type, key, name string) {
	var known []string
	for k := range fields(t) {
		known = append(known, k)
	}
	message := fmt.Sprintf("unknown key %q", short(name))
	if key != "" {
		message += " in " + key
	}
	near := nearest(name, known)
	if near != "" {
		message += fmt.Sprintf(", nearest known key is %q", near)
	} else {
		message += ", want one of " + strings.Join(known, ", ")
	}
	p := Problem{File: at.Name, Line: at.Line, Column: at.Column, Key: join(key, name), Message: message, Nearest: near}
	r.problems = append(r.problems, p)
}

// nearest returns the word of known that was probably meant, or "". Case,
// dashes and underscores do not count, so that passwordFile finds
// password_file.
func nearest(word string, known []string) string {
	fold := strings.NewReplacer("-", "", "_", "")
	word = fold.Replace(strings.ToLower(short(word)))
	best, most := "", 1+len(word)/4
	for _, k := range known {
		if d := distance(word, fold.Replace(k)); d <= most && d < max(len(word), 1) {
			best, most = k, d-1
		}
	}
	return best
}

// distance is how many letters must be added, dropped, changed or swapped
// with their neighbour to make b of a (optimal string alignment).
func distance(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// short cuts a text that an error quotes.
func short(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:61], "") + "..."
	}
	return s
}

var durationType = reflect.TypeFor[time.Duration]()

// At returns what v has at a dotted key, with the place in a list as a number:
// "spaces.0.name". It is false where v has nothing.
func At(v any, key string) (any, bool) {
	at := reflect.ValueOf(v)
	for part := range parts(key) {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Interface {
			at = at.Elem()
		}
		if at.Kind() == reflect.Slice {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= at.Len() {
				return nil, false
			}
			at = at.Index(i)
			continue
		}
		var ok bool
		if at, ok = find(at, part); !ok {
			return nil, false
		}
	}
	return at.Interface(), true
}
