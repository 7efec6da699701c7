package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode"
)

// DataInto decodes the data, a JSON object, into a struct and takes nothing
// that it does not understand: a member that the struct does not have may be
// what the sender relies on, as a misspelt expiry. The error is an
// *EnvelopeError that names the member.
func (e Envelope) DataInto(v any) error {
	data := bytes.TrimSpace(e.Data)
	if len(data) == 0 || string(data) == "null" {
		return &EnvelopeError{"data", "is missing"}
	}
	if data[0] != '{' {
		return &EnvelopeError{"data", "is not a JSON object"}
	}
	if name := repeated(data); name != "" {
		return &EnvelopeError{name, "is there twice: send it once"}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return explainData(decoder.Decode(v))
}

// CheckAttributes refuses members of an envelope that its sender may rely on and
// that nobody reads: one that is there twice, one whose name no attribute can have
// (CloudEvents 1.0, "Naming Conventions"), and an expiry, which belongs into the
// data. The error is an *EnvelopeError. Other extensions are ignored.
func CheckAttributes(envelope []byte) error {
	for _, name := range members(envelope) {
		unnamed := strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
		if unnamed || name == "" || strings.HasPrefix(name, "expir") || strings.HasPrefix(name, "ttl") {
			return &EnvelopeError{name, "is not known beside data: check its spelling, or put it into data"}
		}
	}
	if name := repeated(envelope); name != "" {
		return &EnvelopeError{name, "is there twice: send it once"}
	}
	return nil
}

// repeated is a member that a JSON object has twice, as the decoder compares
// names; empty: none.
func repeated(object []byte) string {
	seen := map[string]bool{}
	for _, name := range members(object) {
		folded := strings.Map(fold, name)
		if seen[folded] {
			return name
		}
		seen[folded] = true
	}
	return ""
}

// fold is one letter for all that the decoder takes for the same: not only those
// of another case, also the long s and the sign of Kelvin.
func fold(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// members are the names in a JSON object, as far as it can be read.
func members(object []byte) (names []string) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return names
		}
		name, _ := key.(string)
		names = append(names, name)
		if decoder.Decode(new(json.RawMessage)) != nil {
			return names
		}
	}
	return names
}

// explainData turns a decoder's error into one that names the member.
func explainData(err error) error {
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return &EnvelopeError{wrong.Field, "is not of its type: it is a JSON " + wrong.Value}
	}
	// The decoder has no type for this error, only its words.
	if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if name, bad := strconv.Unquote(quoted); bad == nil {
			return &EnvelopeError{name, "is not known: check its spelling, or leave it out"}
		}
	}
	return &EnvelopeError{"data", "cannot be read: " + err.Error()}
}
