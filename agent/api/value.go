package api

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// decodeValue reads one valid JSON value into what a member has for it:
//
//	*string, *int64, *bool   a text, a whole number, true or false
//	*time.Time               a time with a zone, in UTC
//	*json.RawMessage         anything that no two readers understand differently
//	*[]json.RawMessage       an array, whose elements are read later
//	[]member                 an object
//	decoder                  whatever it takes
func decodeValue(into any, field string, value []byte) (err error) {
	switch into := into.(type) {
	case *string:
		*into, err = decodeText(field, value)
	case *int64:
		if *into, err = wholeNumber(string(value)); err != nil {
			return invalid(field, "is not a whole number")
		}
	case *bool:
		if *into = value[0] == 't'; value[0] != 't' && value[0] != 'f' {
			return invalid(field, "is not true or false")
		}
	case *time.Time:
		*into, err = decodeTime(field, value)
	case *json.RawMessage:
		*into = value
		return unique(value, field)
	case *[]json.RawMessage:
		*into, err = elements(field, value)
	case []member:
		if value[0] != '{' {
			return invalid(field, "is not an object")
		}
		return decodeMembers(value, field+".", into)
	case decoder:
		return into(field, value)
	}
	return err
}

// decoder reads the value of a field.
type decoder func(field string, value []byte) error

// given reads a value into a pointer that stays nil if there is none.
func given[T any](p **T) decoder {
	return func(field string, value []byte) error {
		*p = new(T)
		return decodeValue(*p, field, value)
	}
}

// maxWhole is the largest number that all readers of JSON have exactly, as whole
// numbers too (RFC 8259 section 6).
const maxWhole = 1<<53 - 1

// wholeNumber reads a whole number however it is written: JSON has one kind of number,
// and some writers write 419 as 419.0 or 4.19e2.
func wholeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return n, nil
	}
	f, other := strconv.ParseFloat(text, 64)
	if other != nil || f != math.Trunc(f) || math.Abs(f) > maxWhole {
		return 0, err
	}
	return int64(f), nil
}

func decodeText(field string, value []byte) (string, error) {
	if value[0] != '"' {
		return "", invalid(field, "is not a text")
	}
	return text(value)
}

func decodeTime(field string, value []byte) (time.Time, error) {
	s, err := decodeText(field, value)
	if err != nil {
		return time.Time{}, err
	}
	return parseTime(field, s)
}

func elements(field string, value []byte) ([]json.RawMessage, error) {
	if value[0] != '[' {
		return nil, invalid(field, "is not an array")
	}
	var all []json.RawMessage
	for _, element := range each(value) {
		all = append(all, element)
	}
	return all, nil
}

// firstYear and lastYear bound the times that are taken: what is outside is
// a mistake, and could not be written down everywhere.
const (
	firstYear = 1970
	lastYear  = 9998
)

// parseTime reads an RFC 3339 time. One without a zone is refused: whose clock
// it means cannot be known.
func parseTime(field, s string) (time.Time, error) {
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

// decodeTexts reads an array of texts.
func decodeTexts(into *[]string) decoder {
	return func(field string, value []byte) error {
		items, err := elements(field, value)
		*into = make([]string, len(items))
		for i := range items {
			if err == nil {
				(*into)[i], err = decodeText(field, items[i])
			}
		}
		return err
	}
}
