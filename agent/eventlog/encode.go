package eventlog

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
)

// Rows are written for every change in the building, and reflection would be
// the largest part of their cost. These few functions write the same JSON as
// encoding/json does; a test compares.

// AppendJSON appends the row as it is stored.
func (r Row) AppendJSON(b []byte) ([]byte, error) {
	b = appendText(append(b, `{"t":`...), r.Type)
	b = strconv.AppendInt(append(b, `,"a":`...), r.Milli, 10)
	b = appendText(append(b, `,"b":`...), r.Boot)
	if r.Untrusted {
		b = append(b, `,"u":true`...)
	}
	for _, f := range []struct{ name, value string }{{`,"m":`, r.Space}, {`,"d":`, r.Device}, {`,"sd":`, r.Sub}} {
		if f.value != "" {
			b = appendText(append(b, f.name...), f.value)
		}
	}
	if len(r.Sum) > 0 {
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"h":"`...), r.Sum), '"')
	}
	data := r.Data
	if len(data) == 0 {
		data = json.RawMessage("null")
	}
	return append(append(append(b, `,"p":`...), data...), '}'), nil
}

// Encode is the record as JSON: where it happened first, then the details,
// sorted by name. A detail cannot say that it happened elsewhere.
func (e Record) Encode() (json.RawMessage, error) {
	b := appendText(append(make([]byte, 0, 384), `{"eventType":`...), e.Type)
	b = AppendStamp(append(b, `,"timestamp":"`...), e.Time)
	b = appendText(append(b, `","details":{"meeting_space_id":`...), e.Space)
	b = appendText(append(b, `,"device":`...), e.Device)
	if e.DeviceID != "" {
		b = appendText(append(b, `,"device_id":`...), e.DeviceID)
	}
	names := make([]string, 0, 16)
	for name := range e.Details {
		if name != "meeting_space_id" && name != "device" && name != "device_id" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var err error
		if b, err = appendValue(append(appendText(append(b, ','), name), ':'), e.Details[name]); err != nil {
			return nil, err
		}
	}
	return append(b, "}}"...), nil
}

func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return appendText(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	}
	other, err := json.Marshal(v)
	return append(b, other...), err
}

// appendText appends a string; one that needs escapes goes the long way.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			escaped, _ := json.Marshal(s) // a string always can be
			return append(b, escaped...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
