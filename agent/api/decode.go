package api

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"roomgate/agent/printable"
	"roomgate/agent/problem"
)

// maxDepth is how deep a request's JSON may be nested.
const maxDepth = 32

// member is one that a request's object may have.
type member struct {
	name     string
	required bool
	into     any // see decodeValue
}

// decodeObject reads one JSON object into members, strictly: an unknown or
// repeated key, a value of the wrong type, or anything behind the object is
// refused, by the name of the field where there is one.
func decodeObject(data []byte, members []member) error {
	if err := checkJSON(data); err != nil {
		return err
	}
	start := space(data, 0)
	if data[start] != '{' {
		return &problem.Error{Code: malformed, Message: "the body is not a JSON object"}
	}
	return decodeMembers(data[start:], "", members)
}

// decodeMembers reads an object of valid JSON. within is the field that holds
// it, for the names in errors.
func decodeMembers(object []byte, within string, members []member) error {
	var seen, given uint64
	for key, value := range each(object) {
		name, err := text(key)
		if err != nil {
			return err
		}
		i := find(members, name)
		if i < 0 {
			return invalid(within+clip(name), "is not known: "+wanted(members))
		}
		if seen&(1<<i) != 0 {
			return invalid(within+name, "is there twice: send it once")
		}
		seen |= 1 << i
		if string(value) == "null" { // the same as not there
			continue
		}
		given |= 1 << i
		if err := decodeValue(members[i].into, within+name, value); err != nil {
			return err
		}
	}
	for i, m := range members {
		if m.required && given&(1<<i) == 0 {
			return invalid(within+m.name, "is missing")
		}
	}
	return nil
}

func find(members []member, name string) int {
	for i := range members {
		if members[i].name == name {
			return i
		}
	}
	return -1
}

// text decodes a JSON string.
func text(quoted []byte) (string, error) {
	inner := quoted[1 : len(quoted)-1]
	for _, b := range inner {
		if b == '\\' {
			var s string
			err := json.Unmarshal(quoted, &s)
			return s, err
		}
	}
	return string(inner), nil
}

// unique refuses an object, at any depth, that has a key twice: two readers of
// it could understand it differently.
func unique(value []byte, field string) error {
	if value[0] != '{' && value[0] != '[' {
		return nil
	}
	seen := map[string]bool{}
	for key, inner := range each(value) {
		at := field
		if key != nil {
			name, err := text(key)
			if err != nil {
				return err
			}
			at = field + "." + clip(name)
			if seen[name] {
				return invalid(at, "is there twice: send it once")
			}
			seen[name] = true
		}
		if err := unique(inner, at); err != nil {
			return err
		}
	}
	return nil
}

// checkJSON refuses what is not exactly one JSON value in UTF-8.
func checkJSON(data []byte) error {
	if len(data) == space(data, 0) {
		return &problem.Error{Code: malformed, Message: "the body is empty: send a JSON object"}
	}
	if !utf8.Valid(data) {
		return &problem.Error{Code: malformed, Message: "the body is not UTF-8"}
	}
	if !json.Valid(data) {
		return &problem.Error{Code: malformed, Message: "the body is not JSON" + where(data)}
	}
	if depth(data) > maxDepth {
		return &problem.Error{Code: malformed, Message: "the body is nested deeper than " + strconv.Itoa(maxDepth) + " levels"}
	}
	if field, ok := printable.JSON(data); !ok {
		return invalid(clip(field), "has control characters: send text without them, and without marks that turn its direction")
	}
	return nil
}

func where(data []byte) string {
	var v json.RawMessage
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(data, &v), &syntax) {
		return ": " + syntax.Error() + " at byte " + strconv.FormatInt(syntax.Offset, 10)
	}
	return ""
}

// clip keeps what a caller sent short enough to be shown in an error.
func clip(s string) string { return printable.Cut(s, 43, "...") }

func wanted(members []member) string {
	if len(members) == 0 {
		return "want an empty object"
	}
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = m.name
	}
	return "want " + strings.Join(out, ", ")
}
