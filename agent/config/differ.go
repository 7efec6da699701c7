package config

import "reflect"

// Restart is the first key, as "http.listen", of which other has another value
// and which takes effect at a start only; empty: there is none. Spaces and
// users take effect while the gateway runs.
func (c *Config) Restart(other *Config) string {
	return differs(reflect.ValueOf(*c), reflect.ValueOf(*other), "")
}

// Reloads says whether other has another value of what takes effect while the gateway
// runs.
func (c *Config) Reloads(other *Config) bool {
	return !reflect.DeepEqual(c.Spaces, other.Spaces) || !reflect.DeepEqual(c.Users, other.Users)
}

func differs(x, y reflect.Value, key string) string {
	if key == "spaces" || key == "users" || reflect.DeepEqual(x.Interface(), y.Interface()) {
		return ""
	}
	if x.Kind() == reflect.Struct && !isLeaf(x.Type()) {
		for name, f := range fields(x.Type()) {
			if at := differs(x.FieldByIndex(f.Index), y.FieldByIndex(f.Index), join(key, name)); at != "" {
				return at
			}
		}
		return ""
	}
	return key
}
