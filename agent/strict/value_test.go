package strict

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

// form is a request with what the other tests' requests lack.
type form struct {
	open  bool
	title *string
	from  time.Time
	to    *time.Time
	items []json.RawMessage
	who   struct {
		name string
		old  *bool
	}
}

func (f *form) decode(data []byte) error {
	return Object(data, []Member{Optional("open", &f.open), Given("title", &f.title), Optional("from", &f.from),
		Given("to", &f.to), Optional("items", &f.items),
		Optional("who", []Member{Required("name", &f.who.name), Given("old", &f.who.old)})})
}

func TestValues(t *testing.T) {
	var f form
	err := f.decode([]byte(`{"open":true,"title":"","from":"2026-11-22T10:00:00.5+01:00","items":[1,{"a":1,"a":2},"x"],"who":{"old":false,"name":"Ada"}}`))
	if err != nil || f.title == nil || f.who.old == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	goldentest.Values(t, "decoded", goldentest.Pairs{"open": {f.open, true}, "title": {*f.title, ""}, "to": {f.to, nil},
		"who.name": {f.who.name, "Ada"}, "who.old": {*f.who.old, false}})
	if want := time.Date(2026, 11, 22, 9, 0, 0, 5e8, time.UTC); f.from != want {
		t.Errorf("from is %v", f.from)
	}
	if len(f.items) != 3 || string(f.items[1]) != `{"a":1,"a":2}` {
		t.Errorf("items are %s", f.items)
	}
	for _, c := range []struct{ body, field, says string }{
		{`{"open":"true"}`, "open", "true or false"},
		{`{"open":1}`, "open", "true or false"},
		{`{"title":null,"title":"x"}`, "title", "twice"},
		{`{"title":{}}`, "title", "not a text"},
		{`{"from":1}`, "from", "not a text"},
		{`{"from":"2026-11-22T10:00:00"}`, "from", "no zone"},
		{`{"from":"2026-11-22T10:00:00.25"}`, "from", "no zone"},
		{`{"to":"2026-11-22 10:00:00Z"}`, "to", "not a time"},
		{`{"to":"2026-02-29T10:00:00Z"}`, "to", "not a time"},
		{`{"to":"2026-11-22T10:00:00+25:00"}`, "to", "not a time"},
		{`{"to":"1969-12-31T23:59:59Z"}`, "to", "out of range"},
		{`{"to":"9999-12-31T23:59:59-01:00"}`, "to", "out of range"},
		{`{"items":{"0":1}}`, "items", "not an array"},
		{`{"who":[]}`, "who", "not an object"},
		{`{"who":{}}`, "who.name", "missing"},
		{`{"who":{"name":1}}`, "who.name", "not a text"},
		{`{"who":{"name":"x","age":1}}`, "who.age", "not known"},
		{`{"who":{"name":"x","old":0}}`, "who.old", "true or false"},
	} {
		var f form
		var e *problem.Error
		if err := f.decode([]byte(c.body)); !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

// FuzzTime: what is taken is an RFC 3339 time, and means the same to others.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{"2026-11-22T10:00:00Z", "2026-11-22T10:00:00.123456789+05:30", "2026-11-22T10:00:00", "2026-11-22T24:00:00Z", "0000-00-00T00:00:00-00:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTime("at", s)
		if err != nil {
			return
		}
		want, err := time.Parse(time.RFC3339, s)
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Fatalf("%q is %v, want %v (%v)", s, got, want, err)
		}
		if written := got.Format(time.RFC3339); len(written) != len("2026-11-22T10:00:00Z") {
			t.Fatalf("%q is written %s", s, written)
		}
	})
}

// TestWholeNumbersAsTheyAreWritten: generated clients write 419 as 419.0 too.
func TestWholeNumbersAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]int64{"419": 419, "419.0": 419, "4.19e2": 419, "-0": 0, "-7.0": -7, "9223372036854775807": 1<<63 - 1, "9007199254740991.0": 1<<53 - 1} {
		var got int64
		if err := Object([]byte(`{"n":`+text+`}`), []Member{Required("n", &got)}); err != nil || got != want {
			t.Errorf("%s is %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"419.5", "1e300", "9007199254740993.5", "9.3e18", `"419"`, "true"} {
		var got int64
		if err := Object([]byte(`{"n":`+text+`}`), []Member{Required("n", &got)}); err == nil || problem.As(err).Field != "n" {
			t.Errorf("%s is taken as %d, %v", text, got, err)
		}
	}
}
