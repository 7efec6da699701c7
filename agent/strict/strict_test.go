package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"roomgate/agent/problem"
)

// order is a request with every sort of member.
type order struct {
	deviceType, sub string
	id              int64
	value           json.RawMessage
}

func (o *order) decode(data []byte) error {
	return Object(data, []Member{Required("device_type", &o.deviceType), Optional("sub_device", &o.sub),
		Optional("id", &o.id), Optional("value", &o.value)})
}

func TestObject(t *testing.T) {
	for _, c := range []struct{ name, body, field, says string }{
		{"whole", `{"device_type":"lock","id":-3,"value":{"a":[1,{"b":"}"}]},"sub_device":"x"}`, "", ""},
		{"text with escapes", `{"device_type":"a\"\\\u00e9"}`, "", ""},
		{"id is a fraction", `{"device_type":"lock","id":1.5}`, "id", "whole number"},
		{"id is too large", `{"device_type":"lock","id":9223372036854775808}`, "id", "whole number"},
		{"id is text", `{"device_type":"lock","id":"1"}`, "id", "whole number"},
		{"repeated inside the value", `{"device_type":"lock","value":{"a":1,"a":2}}`, "value.a", "twice"},
		{"repeated deep inside", `{"device_type":"lock","value":[{"x":{"b":1,"\u0062":2}}]}`, "value.x.b", "twice"},
		{"repeated null", `{"device_type":"lock","sub_device":null,"sub_device":"x"}`, "sub_device", "twice"},
		{"long unknown key", `{"` + strings.Repeat("k", 100) + `":1}`, strings.Repeat("k", 40) + "...", "is not known"},
		{"comment", `{"device_type":"lock"} // yes`, "", "not JSON"},
		{"no closing", `{"device_type":"lock"`, "", "at byte"},
		{"missing", `{"sub_device":"x"}`, "device_type", "is missing"},
	} {
		var o order
		err := o.decode([]byte(c.body))
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var e *problem.Error
		if !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
}

// FuzzObject: what is taken is what encoding/json understands too, and
// nothing makes the reader fail otherwise than with an *problem.Error.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{"device_type":"lock"}`, `{"device_type":"o3-sensor","sub_device":"temprature"}`,
		`{"device_type":"\ud83d\ude00","value":[1,{"a":"]"}],"id":7}`, `{"value":{}}`, `[]`, `{"a":{"a":1}}`, ` {} `, "{\"\":0}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2048 { // no order is longer, and a longer one takes longer
			return
		}
		var o order
		err := o.decode(data)
		if err != nil {
			var e *problem.Error
			if !errors.As(err, &e) || e.Message == "" {
				t.Fatalf("error is %#v", err)
			}
			return
		}
		var reference struct {
			DeviceType string          `json:"device_type"`
			Sub        string          `json:"sub_device"`
			ID         int64           `json:"id"`
			Value      json.RawMessage `json:"value"`
		}
		if err := json.Unmarshal(data, &reference); err != nil {
			t.Fatalf("taken, but %v: %q", err, data)
		}
		if string(reference.Value) == "null" {
			reference.Value = nil
		}
		if reference.DeviceType != o.deviceType || reference.Sub != o.sub || reference.ID != o.id || !bytes.Equal(reference.Value, o.value) {
			t.Fatalf("read as %+v, want %+v: %q", o, reference, data)
		}
	})
}

// TestEachYieldsWhatWasEncoded builds objects and walks over them.
func TestEachYieldsWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOf(rapid.String(), rapid.OneOf(
			rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "text") }),
			rapid.Custom(func(t *rapid.T) any { return rapid.Float64().Draw(t, "number") }),
			rapid.Custom(func(t *rapid.T) any {
				return map[string]any{rapid.String().Draw(t, "key"): []any{rapid.String().Draw(t, "inner"), nil, true}}
			}))).Draw(t, "object")
		var encoded bytes.Buffer
		encoder := json.NewEncoder(&encoded)
		if rapid.Bool().Draw(t, "indent") {
			encoder.SetIndent("", " \t")
		}
		if err := encoder.Encode(object); err != nil {
			t.Fatal(err)
		}
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal(encoded.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		found := 0
		for key, value := range Each(encoded.Bytes()) {
			name, err := Unquote(key)
			if err != nil || !bytes.Equal(value, want[name]) {
				t.Fatalf("%q is %s, want %s (%v)", name, value, want[name], err)
			}
			found++
		}
		if found != len(want) {
			t.Fatalf("%d of %d members", found, len(want))
		}
	})
}
