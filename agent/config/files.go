package config

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"roomgate/drivers"
)

// File is a file that a configuration names.
type File struct {
	Key  string // as "cloud.password_file"
	Path string
}

// Files are the files with passwords, tokens and certificates of clients that are
// named, with those of devices. Nobody has looked whether they are there.
func (c *Config) Files() (all []File) {
	leaves(reflect.ValueOf(*c), "", func(_ reflect.Value, name, key string, v reflect.Value) {
		if names := strings.HasSuffix(name, "_file") || name == "client_certificate" || name == "client_key"; names && v.Kind() == reflect.String && v.String() != "" {
			all = append(all, File{key, v.String()})
		}
	})
	return all
}

// beside lets the files that a configuration names begin in its own folder, wherever the program was started.
func (c *Config) beside(path string) {
	leaves(reflect.ValueOf(c), "", func(_ reflect.Value, _, key string, v reflect.Value) {
		from := c.origins[key]
		if v.Kind() != reflect.String || v.String() == "" || from.Name != path || from.Line == 0 || !namesFile(strings.Split(key, ".")) {
			return
		}
		if name := v.String(); !filepath.IsAbs(name) && !strings.HasPrefix(name, credentials) {
			v.SetString(filepath.Join(filepath.Dir(path), name))
		}
	})
}

// EmptySecrets are the keys of passwords and tokens that are written without a
// value, and have a user or need none, as password of "password: #foo": what begins
// with # is a comment.
func (c *Config) EmptySecrets() (keys []string) {
	leaves(reflect.ValueOf(*c), "", func(of reflect.Value, name, key string, v reflect.Value) {
		_, secret := v.Interface().(drivers.Secret)
		user, named := find(of, "username")
		file, _ := find(of, name+"_file")
		_, written := c.origins[key]
		if secret && written && v.String() == "" && !(named && user.String() == "") && !(file.IsValid() && file.String() != "") {
			keys = append(keys, key)
		}
	})
	slices.Sort(keys)
	return keys
}

// CutSecrets are the keys of passwords and tokens behind which a comment stands, as after
// "password: red #8": whoever wrote it may mean all of it.
func (c *Config) CutSecrets() []string { return slices.Clone(c.cut) }

// leaves calls f with each single value below v, its name, its key, and what it is of.
func leaves(v reflect.Value, key string, f func(of reflect.Value, name, key string, v reflect.Value)) {
	switch {
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		if !v.IsNil() {
			leaves(v.Elem(), key, f)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), at(key, i), f)
		}
	case v.Kind() == reflect.Struct && !isLeaf(v.Type()):
		for name, field := range fields(v.Type()) {
			inner, err := v.FieldByIndexErr(field.Index)
			if err != nil { // below a pointer that leads nowhere
				continue
			}
			leaves(inner, join(key, name), f)
			if isLeaf(inner.Type()) && inner.Kind() != reflect.Interface {
				f(v, name, join(key, name), inner)
			}
		}
	}
}

// at is the key of an item of a list.
func at(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// Naming is the last key below a device, by its id, that has a text as its value, or
// the device's own: where to correct what is wrong with it.
func (c *Config) Naming(device, text string) (key string) {
	for i, s := range c.Spaces {
		for j, d := range s.Devices {
			if d.ID != device {
				continue
			}
			key = at(join(at("spaces", i), "devices"), j)
			leaves(reflect.ValueOf(d.Options), join(key, "options"), func(_ reflect.Value, _, leaf string, v reflect.Value) {
				if v.Kind() == reflect.String && v.String() == text {
					key = leaf
				}
			})
			return key
		}
	}
	return ""
}

// Listens are the addresses that a gateway listens on, by their keys.
func (c *Config) Listens() map[string]string {
	all := map[string]string{"http.listen": c.HTTP.Listen, "http.tls.listen": c.HTTP.TLS.Listen, "broker.listen": c.Broker.Listen}
	maps.DeleteFunc(all, func(_, address string) bool { return address == "" })
	return all
}
