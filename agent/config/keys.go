package config

import (
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/printable"
	"roomgate/agent/spelling"
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

// unknown notes a key that no field has; above is what stands before it.
func (r *reader) unknown(at Origin, t reflect.Type, key, name string, above hollow) {
	known := known(t)
	message := fmt.Sprintf("unknown key %q", short(name))
	if key != "" {
		message += " in " + key
	}
	near := spelling.Nearest(name, known)
	if home := r.elsewhere(name); above.has(name) {
		near, message = "", message+above.words()
		if r.misplaced == nil {
			r.misplaced = map[string]bool{}
		}
		r.misplaced[join(join(key, above.name), name)] = true // and it is not missing there as well
	} else if near != "" {
		message += fmt.Sprintf(", nearest known key is %q", near)
	} else if foreign := r.foreign(key, name, known); foreign != "" {
		message += ": " + foreign
	} else if home != "" {
		message += ": " + home
		r.strays(key, name)
	} else {
		message += ", want one of " + strings.Join(known, ", ")
	}
	if near != "" {
		if r.misspelt == nil {
			r.misspelt = map[string]bool{}
		}
		r.misspelt[join(key, near)] = true
	}
	p := Problem{File: at.Name, Line: at.Line, Column: at.Column, Key: join(key, name), Message: message, Nearest: near}
	r.problems = append(r.problems, p)
}

// known lists the keys of a struct.
func known(t reflect.Type) (keys []string) {
	for k := range fields(t) {
		keys = append(keys, k)
	}
	return keys
}

// short cuts a text that an error quotes.
func short(s string) string { return printable.Cut(s, 64, "...") }

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
