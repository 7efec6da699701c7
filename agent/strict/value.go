package strict

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/printable"
)

// readMembers reads an object of valid JSON. within is the field that holds it, for the names in errors.
func readMembers(object []byte, within string, members []Member) error {
	var seen, given uint64
	for key, value := range Each(object) {
		name, err := Unquote(key)
		if err != nil {
			return err
		}
		i := find(members, name)
		if i < 0 {
			return invalid(within+Clip(name), "is not known: "+wanted(members))
		}
		if seen&(1<<i) != 0 {
			return invalid(within+name, "is there twice: send it once")
		}
		seen |= 1 << i
		if string(value) == "null" { // the same as not there
			continue
		}
		given |= 1 << i
		if err := Value(members[i].Into, within+name, value); err != nil {
			return err
		}
	}
	for i, m := range members {
		if m.Required && given&(1<<i) == 0 {
			return invalid(within+m.Name, "is missing")
		}
	}
	return nil
}

func find(members []Member, name string) int {
	for i := range members {
		if members[i].Name == name {
			return i
		}
	}
	return -1
}

func wanted(members []Member) string {
	if len(members) == 0 {
		return "want an empty object"
	}
	out := make([]string, len(members))
	for i, m := range members {
		out[i] = m.Name
	}
	return "want " + strings.Join(out, ", ")
}

// longestName is how much of a name that a client sent is shown in an error.
const longestName = 43

// Clip keeps such a name short enough.
func Clip(name string) string { return printable.Cut(name, longestName, "...") }

// Value reads one valid JSON value into what a Member has for it. The members of an object
// without a field are named alone.
func Value(into any, field string, value []byte) (err error) {
	switch into := into.(type) {
	case *string:
		*into, err = Text(field, value)
	case *int64:
		if *into, err = wholeNumber(string(value)); err != nil {
			return invalid(field, "is not a whole number")
		}
	case *bool:
		if *into = value[0] == 't'; value[0] != 't' && value[0] != 'f' {
			return invalid(field, "is not true or false")
		}
	case *time.Time:
		*into, err = readTime(field, value)
	case *json.RawMessage:
		*into = value
		return unique(value, field)
	case *[]json.RawMessage:
		*into, err = Elements(field, value)
	case []Member:
		if value[0] != '{' {
			return invalid(field, "is not an object")
		}
		return readMembers(value, strings.TrimPrefix(field+".", "."), into)
	case Decoder:
		return into(field, value)
	}
	return err
}

// Text reads a text.
func Text(field string, value []byte) (string, error) {
	if value[0] != '"' {
		return "", invalid(field, "is not a text")
	}
	return Unquote(value)
}

// Unquote decodes a JSON string.
func Unquote(quoted []byte) (string, error) {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), nil
	}
	var s string
	err := json.Unmarshal(quoted, &s)
	return s, err
}

// MaxWhole is the largest number that all readers of JSON have exactly, as whole
// numbers too (RFC 8259 section 6).
const MaxWhole = 1<<53 - 1

// wholeNumber reads a whole number however it is written: JSON has one kind of number,
// and some writers write 419 as 419.0 or 4.19e2.
func wholeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return n, nil
	}
	f, other := strconv.ParseFloat(text, 64)
	if other != nil || f != math.Trunc(f) || math.Abs(f) > MaxWhole {
		return 0, err
	}
	return int64(f), nil
}

// Elements reads an array, and leaves its elements to be read later.
func Elements(field string, value []byte) ([]json.RawMessage, error) {
	if value[0] != '[' {
		return nil, invalid(field, "is not an array")
	}
	var all []json.RawMessage
	for _, element := range Each(value) {
		all = append(all, element)
	}
	return all, nil
}

// Texts reads an array of texts.
func Texts(into *[]string) Decoder {
	return func(field string, value []byte) error {
		items, err := Elements(field, value)
		*into = make([]string, len(items))
		for i := range items {
			if err == nil {
				(*into)[i], err = Text(field, items[i])
			}
		}
		return err
	}
}

// firstYear and lastYear bound the times that are taken: what is outside is
// a mistake, and could not be written down everywhere.
const (
	firstYear = 1970
	lastYear  = 9998
)

func readTime(field string, value []byte) (time.Time, error) {
	s, err := Text(field, value)
	if err != nil {
		return time.Time{}, err
	}
	return ParseTime(field, s)
}

// ParseTime reads an RFC 3339 time. One without a zone is refused: whose clock
// it means cannot be known.
func ParseTime(field, s string) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText([]byte(s)); err != nil { // unlike time.Parse it is strict
		if _, err := time.Parse("2006-01-02T15:04:05", s); err == nil {
			return time.Time{}, invalid(field, "has no zone: want a time like 2026-01-31T09:30:00Z or 2026-01-31T10:30:00+01:00")
		}
		return time.Time{}, invalid(field, "is not a time: want one like 2026-01-31T09:30:00Z")
	}
	if t = t.UTC(); t.Year() < firstYear || t.Year() > lastYear {
		return time.Time{}, invalid(field, "is out of range: want a time from "+strconv.Itoa(firstYear)+" to "+strconv.Itoa(lastYear))
	}
	return t, nil
}

// unique refuses an object, at any depth, that has a key twice: two readers of
// it could understand it differently.
func unique(value []byte, field string) error {
	if value[0] != '{' && value[0] != '[' {
		return nil
	}
	seen := map[string]bool{}
	for key, inner := range Each(value) {
		at := field
		if key != nil {
			name, err := Unquote(key)
			if err != nil {
				return err
			}
			at = field + "." + Clip(name)
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
