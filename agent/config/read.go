package config

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/spelling"
	"roomgate/drivers"
)

// reader lays a YAML tree over a configuration and collects what is wrong.
type reader struct {
	file     string
	kinds    []drivers.Kind
	origins  map[string]Origin
	problems []Problem

	misplaced map[string]bool         // keys that are there, in the wrong place
	misspelt  map[string]bool         // keys that an unknown one probably means
	astray    []string                // devices beside which a key of theirs stands
	cut       []string                // as of Config
	optionsOf map[string]drivers.Kind // the driver of a device by the key of its options
}

// place returns where a node stands.
func (r *reader) place(n *yaml.Node) Origin {
	return Origin{Name: r.file, Line: n.Line, Column: n.Column}
}

// add notes a problem.
func (r *reader) add(at Origin, key, message string) {
	r.problems = append(r.problems, Problem{File: at.Name, Line: at.Line, Column: at.Column, Key: key, Message: message})
}

// byPlace sorts problems as the file runs; those without a line come last.
func byPlace(a, b Problem) int {
	if (a.Line == 0) != (b.Line == 0) {
		return cmp.Compare(b.Line, a.Line)
	}
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// value lays a node over v. A null leaves the default. What looks like an
// anchor may be half of a password, so it is not repeated.
func (r *reader) value(v reflect.Value, n *yaml.Node, key string) {
	r.origins[key] = r.place(n)
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0:
		r.add(r.place(n), key, cmp.Or(key, "the document")+" starts with *, & or !: put a text that starts so in quotes")
	case n.ShortTag() == "!!null":
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		r.value(v.Elem(), n, key)
	case isLeaf(v.Type()):
		r.leaf(v, n, key)
	case v.Kind() == reflect.Struct:
		r.fields(v, n, key)
	case v.Kind() == reflect.Slice:
		r.list(v, n, key)
	}
}

func (r *reader) leaf(v reflect.Value, n *yaml.Node, key string) {
	if v.Type() == reflect.TypeFor[Brokers]() && n.Kind == yaml.SequenceNode {
		var all []string
		r.list(reflect.ValueOf(&all).Elem(), n, key)
		v.SetString(strings.Join(all, ","))
		return
	}
	if n.Kind != yaml.ScalarNode {
		r.add(r.place(n), key, fmt.Sprintf("%s is a %s: want a single value", key, shape(n)))
		return
	}
	if err := scalar(v, n.Value); err != nil {
		r.add(r.place(n), key, key+" "+err.Error())
	}
	if _, secret := v.Interface().(drivers.Secret); secret && n.LineComment != "" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		r.cut = append(r.cut, key)
	}
}

func (r *reader) list(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind != yaml.SequenceNode {
		r.add(r.place(n), key, fmt.Sprintf("%s is a %s: want a list", key, shape(n))+itemWords(key))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		if d, ok := v.Index(i).Addr().Interface().(interface{ defaults() }); ok {
			d.defaults()
		}
		at := fmt.Sprintf("%s[%d]", key, i)
		r.origins[at] = r.place(item)
		r.value(v.Index(i), item, at)
	}
}

// fields lays a mapping over a struct. The options of a device come last,
// because only its driver knows their type.
func (r *reader) fields(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind != yaml.MappingNode {
		r.add(r.place(n), key, fmt.Sprintf("%s is a %s: want keys with values", cmp.Or(key, "the document"), shape(n))+nearKey(v, n))
		return
	}
	seen, twice := map[string]int{}, false
	var options *yaml.Node
	var strange []*yaml.Node
	device, _ := v.Addr().Interface().(*Device)
	driver := driverOf(device)
	var above hollow
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, item := n.Content[i], n.Content[i+1]
		at := join(key, name.Value)
		if line, again := seen[name.Value]; again {
			if item := strings.HasSuffix(key, "]"); !item || !twice { // the others of that item are the same mistake
				r.add(r.place(name), at, fmt.Sprintf("%s is already in line %d", short(at), line)+itemWords(key[:max(0, strings.LastIndexByte(key, '['))]))
			}
			twice = true
			continue
		}
		seen[name.Value] = name.Line
		f, ok := find(v, name.Value)
		switch {
		case !ok && n.Style&yaml.FlowStyle != 0 && torn(name, item, v.Type()):
			r.add(r.place(name), key, fmt.Sprintf("%s has a key without a value, which is not shown here, as it may be a part of a password: write a value with a comma in quotes", cmp.Or(key, "the document")))
		case !ok && device != nil && name.Kind == yaml.ScalarNode:
			strange = append(strange, name)
		case !ok || name.Kind != yaml.ScalarNode:
			r.unknown(r.place(name), v.Type(), key, name.Value, above)
		case f.Type() == reflect.TypeFor[drivers.Options]():
			options = item
		default:
			r.value(f, item, at)
		}
		if ok {
			above = hollowOf(name, item, f.Type())
		}
	}
	if device != nil {
		r.options(device, driver, options, key)
		r.outside(device, strange, key)
	}
}

// optionMeant is the option of a device that a key beside its options means, unless it
// is nearer to one of the device's own.
func optionMeant(d *Device, name string) string {
	if d.Options == nil {
		return ""
	}
	var own, known []string
	for k := range fields(reflect.TypeFor[Device]()) {
		own = append(own, k)
	}
	for k := range fields(reflect.TypeOf(d.Options).Elem()) {
		known = append(known, k)
	}
	if slices.Contains(known, name) {
		return name
	}
	if spelling.Nearest(name, own) != "" {
		return ""
	}
	return spelling.Nearest(name, known)
}

// outside notes the unknown keys of a device. One that its options have is only in the
// wrong place, and not missing there as well.
func (r *reader) outside(d *Device, names []*yaml.Node, key string) {
	for _, name := range names {
		if meant := optionMeant(d, name.Value); meant != "" {
			r.add(r.place(name), join(key, name.Value), fmt.Sprintf("unknown key %q in %s: want %s below \"options:\", two blanks further in", short(name.Value), key, meant))
			if r.misplaced == nil {
				r.misplaced = map[string]bool{}
			}
			r.misplaced[join(key, "options."+meant)] = true
			continue
		}
		r.unknown(r.place(name), reflect.TypeFor[Device](), key, name.Value, hollow{})
	}
}

func driverOf(d *Device) string {
	if d == nil {
		return ""
	}
	return d.Driver
}

// options fills the options of a device as its driver declares them. A device
// that had this driver before keeps those that are not named.
func (r *reader) options(d *Device, before string, n *yaml.Node, key string) {
	i := slices.IndexFunc(r.kinds, func(k drivers.Kind) bool { return k.Name == d.Driver })
	switch {
	case i < 0:
		return // check says so
	case d.Options == nil || d.Driver != before:
		d.Options = r.kinds[i].Options()
	case n != nil:
		d.Options = cloned(reflect.ValueOf(d.Options)).Interface().(drivers.Options)
	}
	if n != nil {
		if r.optionsOf == nil {
			r.optionsOf = map[string]drivers.Kind{}
		}
		r.optionsOf[join(key, "options")] = r.kinds[i]
		r.value(reflect.ValueOf(d.Options).Elem(), n, join(key, "options"))
	}
}

// isLeaf says whether a type is written as a single value.
func isLeaf(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Pointer:
		return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	}
	return true
}

func shape(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "list"
	}
	return "single value"
}

// scalar reads text into v. The error says what was wanted; it repeats the
// text unless that may be a secret.
func scalar(v reflect.Value, text string) error {
	if _, secret := v.Interface().(drivers.Secret); secret {
		v.SetString(text)
		return nil
	}
	if err := scan(v, text); err != nil {
		return fmt.Errorf("is %q: %w", short(text), err)
	}
	return nil
}

func scan(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	if v.Type() == durationType {
		d, err := time.ParseDuration(text)
		v.SetInt(int64(d))
		return wanted(err, "a duration like 500ms, 30s or 1h30m")
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fromCredentials(text))
		return seen(text)
	case reflect.Bool:
		return scanBool(v, text)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(text, 0, v.Type().Bits())
		v.SetInt(i)
		return wanted(err, "a whole number")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		i, err := strconv.ParseUint(text, 0, v.Type().Bits())
		v.SetUint(i)
		return wanted(err, fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-v.Type().Bits())))
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, v.Type().Bits())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			err = strconv.ErrRange
		}
		v.SetFloat(f)
		return wanted(err, "a number")
	}
	return fmt.Errorf("the program cannot read a %s here", v.Type())
}

func scanBool(v reflect.Value, text string) error {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		v.SetBool(true)
	case "false", "no", "off":
		v.SetBool(false)
	default:
		return errors.New("want true or false")
	}
	return nil
}

// wanted words the error of a parser, if there is one.
func wanted(err error, what string) error {
	if err == nil {
		return nil
	}
	return errors.New("want " + what)
}

// torn says whether an unknown key may be what a comma has cut off the value before it, as of password: abc,def in braces.
func torn(name, item *yaml.Node, t reflect.Type) bool {
	if item.Kind != yaml.ScalarNode || item.Tag != "!!null" || item.Value != "" || name.Kind != yaml.ScalarNode {
		return false
	}
	return spelling.Nearest(name.Value, known(t)) == ""
}
