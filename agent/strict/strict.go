// Package strict reads a JSON object that a client has sent, strictly: an unknown or repeated
// member, a value of the wrong type, or anything behind the object is refused, by the name
// of the field where there is one. The reader says which members there may be, and where
// each value goes.
//
// The reader is our own because encoding/json takes a key twice, a key in capitals or small letters,
// and rubbish behind the end, and a wrong input has to be refused by the name of its field.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"roomgate/agent/printable"
	"roomgate/agent/problem"
)

// Malformed is the code of what is not JSON as it should be.
const Malformed problem.Code = "malformed"

// maxDepth is how deep the JSON of a client may be nested.
const maxDepth = 32

// Member is one that an object may have. Into says where its value goes:
//
//	*string, *int64, *bool   a text, a whole number, true or false
//	*time.Time               a time with a zone, in UTC
//	*json.RawMessage         anything that no two readers understand differently
//	*[]json.RawMessage       an array, whose elements are read later
//	[]Member                 an object
//	Decoder                  whatever it takes
type Member struct {
	Name     string
	Required bool
	Into     any
}

// Decoder reads the value of a field. The value is valid JSON.
type Decoder = func(field string, value []byte) error

// Required is a member that must be there.
func Required(name string, into any) Member { return Member{name, true, into} }

// Optional is a member that may be missing. null is the same as missing.
func Optional(name string, into any) Member { return Member{name, false, into} }

// Given is an optional member whose pointer stays nil if there is none.
func Given[T any](name string, p **T) Member {
	return Optional(name, func(field string, value []byte) error {
		*p = new(T)
		return Value(*p, field, value)
	})
}

// Object reads one JSON object into members. Members may refer to data.
func Object(data []byte, members []Member) error {
	if err := check(data); err != nil {
		return err
	}
	start := skipBlank(data, 0)
	if data[start] != '{' {
		return malformed("the body is not a JSON object")
	}
	return readMembers(data[start:], "", members)
}

// check refuses what is not exactly one JSON value in UTF-8.
func check(data []byte) error {
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return malformed("the body is empty: send a JSON object")
	}
	if !utf8.Valid(data) {
		return malformed("the body is not UTF-8")
	}
	if !json.Valid(data) {
		return malformed("the body is not JSON" + where(data))
	}
	if depth(data) > maxDepth {
		return malformed("the body is nested deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	if field, ok := printable.JSON(data); !ok {
		return invalid(printable.Cut(field, longestName, "..."), "has control characters: send text without them, and without marks that turn its direction")
	}
	return nil
}

// depth is how deep the deepest value is nested.
func depth(data []byte) (deepest int) {
	level, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case b == '"':
			inText = !inText
		case inText && b == '\\':
			i++
		case inText:
		case b == '{', b == '[':
			level++
			deepest = max(deepest, level)
		case b == '}', b == ']':
			level--
		}
	}
	return deepest
}

func where(data []byte) string {
	var v json.RawMessage
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(data, &v), &syntax) {
		return ": " + syntax.Error() + " at byte " + strconv.FormatInt(syntax.Offset, 10)
	}
	return ""
}

func malformed(message string) error { return &problem.Error{Code: Malformed, Message: message} }

// invalid refuses the value of a field.
func invalid(field, message string) error {
	return &problem.Error{Code: problem.Invalid, Field: field, Message: message}
}
