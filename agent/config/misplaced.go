package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// mostHomes is of how many places a key may be until naming them helps nobody.
const mostHomes = 3

// The places of keys that are most often indented wrongly.
const (
	inSpace   = "spaces[]"
	inDevice  = inSpace + ".devices[]"
	inOptions = inDevice + ".options"
)

// homes are the places that have a key of that name, as inDevice; empty: the first column.
func (r *reader) homes(name string) (all []string) {
	for _, key := range Keys(Config{}) {
		parts := strings.Split(key, ".")
		for i, part := range parts {
			if strings.TrimSuffix(part, "[]") == name {
				all = append(all, strings.Join(parts[:i], "."))
			}
		}
	}
	for _, k := range r.kinds {
		if _, ok := find(reflect.ValueOf(k.Options()).Elem(), name); ok {
			all = append(all, inOptions)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// elsewhere says where a key belongs that stands in another place, empty: nobody knows.
func (r *reader) elsewhere(name string) string {
	homes := r.homes(name)
	if len(homes) > 0 && homes[0] == "" { // a whole part is more often indented too far than a key of the same name
		return "it begins in the first column"
	}
	if len(homes) == 1 {
		switch homes[0] {
		case inSpace:
			return "it is a key of a space: begin it in the column of the space's name"
		case inDevice:
			return "it is a key of a device: begin it in the column of the device's type"
		case inOptions:
			return "it is an option of a device: want it below \"options:\", two blanks further in"
		}
		return fmt.Sprintf("it belongs below %q, two blanks further in", homes[0][strings.LastIndexByte(homes[0], '.')+1:]+":")
	}
	if len(homes) == 0 || len(homes) > mostHomes {
		return ""
	}
	for i, home := range homes {
		switch home {
		case inSpace:
			homes[i] = "a space"
		case inDevice:
			homes[i] = "a device"
		case inOptions:
			homes[i] = "the options of a device"
		}
	}
	last := len(homes) - 1
	return "it is a key of " + strings.Join(homes[:last], ", ") + " or " + homes[last] + ": begin it in the column of its neighbours there"
}

// hollow is a key without a value, below which nothing is indented: what comes next may be meant to be.
type hollow struct {
	name string
	line int
	of   reflect.Type
}

func hollowOf(name, item *yaml.Node, t reflect.Type) hollow {
	if item.Kind != yaml.ScalarNode || item.Tag != "!!null" || t.Kind() != reflect.Struct || isLeaf(t) {
		return hollow{}
	}
	return hollow{name.Value, name.Line, t}
}

// has says whether a key is one of those that belong below it.
func (h hollow) has(name string) bool { return h.of != nil && slices.Contains(known(h.of), name) }

func (h hollow) words() string {
	return fmt.Sprintf(": it belongs below \"%s:\" in line %d: put two blanks before it", h.name, h.line)
}

// strays remembers that a key of the devices of a space stands beside them, so that it is
// not missing there as well.
func (r *reader) strays(key, name string) {
	for _, home := range r.homes(name) {
		if home == inDevice || home == inOptions {
			r.astray = append(r.astray, key+".devices[")
		}
	}
}

// missed says whether a key is only missing because it stands in another place.
func (r *reader) missed(key, message string) bool {
	return strings.HasPrefix(message, "is missing") && slices.ContainsFunc(r.astray, func(above string) bool { return strings.HasPrefix(key, above) })
}

// foreign says of an option that the driver of a device does not have what that takes, and whose option it
// is; empty: it is nobody's, or a key of the device.
func (r *reader) foreign(key, name string, takes []string) string {
	driver, within := r.optionsOf[key]
	homes := r.homes(name)
	if !within || slices.Contains(homes, inDevice) || !slices.Contains(homes, inOptions) {
		return ""
	}
	var named, same, others []string // drivers that have it
	for _, k := range r.kinds {
		if _, ok := find(reflect.ValueOf(k.Options()).Elem(), name); !ok {
			continue
		}
		others = append(others, k.Name)
		if k.Type == driver.Type {
			same = append(same, k.Name)
		}
		if strings.HasSuffix(k.Name, "-"+name) { // as lock-relay
			named = append(named, k.Name)
		}
	}
	for _, better := range [][]string{same, named} {
		if len(better) > 0 {
			others = better
		}
	}
	owner := strings.Join(others, ", ")
	if len(others) > mostHomes {
		owner = "other drivers, as " + others[0]
	}
	return fmt.Sprintf("%s has no %s; it takes %s; %s belongs to %s", driver.Name, short(name), strings.Join(takes, ", "), short(name), owner)
}
