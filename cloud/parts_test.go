package cloud

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is split and joined is what it was, whatever the lists have.
func TestPartsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := map[string]any{"revision": 7, "update": map[string]string{"url": "https://a<b"}}
		for _, name := range rapid.SliceOfDistinct(rapid.StringN(1, 9, 20), func(s string) string { return strings.Map(fold, s) }).Draw(t, "lists") {
			if !strings.Contains("part of whole revision update", strings.ToLower(name)) {
				data[name] = rapid.SliceOf(rapid.StringN(0, 300, 300)).Draw(t, "list")
			}
		}
		text, _ := json.Marshal(data)
		parts, err := Split(text, "w", 2000)
		if err != nil {
			if strings.Contains(err.Error(), "does not fit") || strings.Contains(err.Error(), "leave no room") {
				t.Skip()
			}
			t.Fatal(err)
		}
		for i, part := range parts {
			var p Part
			if err := json.Unmarshal(part, &p); err != nil || len(part) > 2000 || len(parts) > 1 && p != (Part{i + 1, len(parts), "w"}) {
				t.Fatalf("part %d of %d bytes: %+v, %v", i+1, len(part), p, err)
			}
		}
		whole, err := Join(parts)
		if err != nil {
			t.Fatal(err)
		}
		var was, is any
		_ = json.Unmarshal(text, &was)
		_ = json.Unmarshal(whole, &is)
		if a, b := fmt.Sprint(was), fmt.Sprint(is); a != b {
			t.Fatalf("joined is\n%s, want\n%s", b, a)
		}
	})
}

// Names that a reader takes for one are refused before they are sent.
func TestSplitRefusesOneNameTwice(t *testing.T) {
	for _, text := range []string{`{"AA":[],"Aa":[]}`, `{"spaces":[1],"ſpaces":[2]}`} {
		if parts, err := Split([]byte(text), "w", 2000); err == nil {
			t.Errorf("%s is split into %s", text, parts)
		}
	}
}

func TestJoinRefuses(t *testing.T) {
	for _, c := range []struct{ parts, want string }{
		{`{"revision":1,"part":1}|{"revision":2,"part":2}`, "revision differs from part to part, and is no list"},
		{`{"bookings":[1]}|{"bookings":{}}`, "bookings differs from part to part, and is no list"},
		{`{"bookings":{}}|{"bookings":[1]}`, "bookings differs from part to part, and is no list"},
		{`{"a":1}|[]`, "data is not a JSON object"},
	} {
		var parts []json.RawMessage
		for _, p := range strings.Split(c.parts, "|") {
			parts = append(parts, json.RawMessage(p))
		}
		if got, err := Join(parts); err == nil || err.Error() != c.want {
			t.Errorf("%s: %s, %v", c.parts, got, err)
		}
	}
}

// One element that fits nowhere is named; so are too many parts.
func TestSplitRefuses(t *testing.T) {
	for want, data := range map[string]string{
		`spaces[1] has 4002 bytes: it does not fit into one part`: `{"spaces":["a","` + strings.Repeat("b", 4000) + `"]}`,
		`it needs 2500 parts: at most 128 go`:                     `{"spaces":[` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("c", 800)+`",`, 5000), ",") + `]}`,
	} {
		if _, err := Split([]byte(data), "w", 2000); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzJoin: parts come from whoever may write to the broker.
func FuzzJoin(f *testing.F) {
	f.Add(`{"revision":1,"bookings":[{"id":"a"}]}`, `{"revision":1,"bookings":[]}`)
	f.Add(`{"a":[`, `{"a":1,"a":2}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		whole, err := Join([]json.RawMessage{json.RawMessage(a), json.RawMessage(b)})
		if err == nil && !json.Valid(whole) {
			t.Errorf("%q and %q are %q", a, b, whole)
		}
	})
}
