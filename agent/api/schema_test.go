package api

import (
	"fmt"
	"maps"
	"slices"
)

// valid holds v to the part of JSON Schema that the file uses.
func (s spec) valid(schema, v any, where string) error {
	schema = s.at(schema)
	if parts, ok := s.at(schema, "allOf").([]any); ok {
		for _, part := range parts {
			if err := s.valid(part, v, where); err != nil {
				return err
			}
		}
	}
	if choices, ok := s.at(schema, "oneOf").([]any); ok {
		return s.oneOf(choices, v, where)
	}
	if allowed, ok := s.at(schema, "enum").([]any); ok && !slices.Contains(allowed, v) {
		return fmt.Errorf("%s is %v, want one of %v", where, v, allowed)
	}
	if err := checkType(s.at(schema, "type"), v, where); err != nil {
		return err
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if err := s.valid(s.at(schema, "items"), item, fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return s.validObject(schema, v, where)
	}
	return nil
}

func (s spec) oneOf(choices []any, v any, where string) (err error) {
	for _, c := range choices {
		if err = s.valid(c, v, where); err == nil {
			return nil
		}
	}
	return err
}

// known are the properties that a schema and those it is made of have.
func (s spec) known(schema any) map[string]any {
	all := map[string]any{}
	parts, _ := s.at(schema, "allOf").([]any)
	for _, part := range parts {
		maps.Copy(all, s.known(part))
	}
	own, _ := s.at(schema, "properties").(map[string]any)
	maps.Copy(all, own)
	return all
}

func (s spec) validObject(schema any, v map[string]any, where string) error {
	required, _ := s.at(schema, "required").([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s lacks %s", where, name)
		}
	}
	properties := s.known(schema)
	for name, value := range v {
		p, known := properties[name]
		if !known && (s.at(schema, "additionalProperties") == false || s.at(schema, "unevaluatedProperties") == false) {
			return fmt.Errorf("%s has the undescribed %s", where, name)
		}
		if err := s.valid(p, value, where+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func checkType(want, v any, where string) error {
	if want == nil {
		return nil
	}
	names, several := want.([]any)
	if !several {
		names = []any{want}
	}
	kind := fmt.Sprintf("%T", v)
	is := map[string][]string{"string": {"string"}, "bool": {"boolean"}, "float64": {"number"}, "<nil>": {"null"},
		"map[string]interface {}": {"object"}, "[]interface {}": {"array"}}[kind]
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		is = append(is, "integer")
	}
	for _, n := range names {
		if slices.Contains(is, n.(string)) {
			return nil
		}
	}
	return fmt.Errorf("%s is a %s, want %v", where, kind, want)
}
