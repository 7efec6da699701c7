package cloud

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const golden = `{"specversion":"1.0","id":"01J","source":"roomgate/demo","type":"roomgate.event.doorForced",` +
	`"subject":"aurora","time":"2026-11-21T09:30:00Z","sequence":7,"bootid":"b1","timetrust":"trusted","data":{"a":1}}`

func TestEnvelopeOnTheWire(t *testing.T) {
	e := Envelope{
		ID: "01J", Source: "roomgate/demo", Type: "roomgate.event.doorForced", Subject: "aurora",
		Time:     time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC),
		Sequence: 7, BootID: "b1", TimeTrust: "trusted", Data: json.RawMessage(`{"a":1}`),
	}
	b, err := e.Encode()
	if err != nil || string(b) != golden {
		t.Errorf("encoded %s, %v", b, err)
	}
	e.SpecVersion = SpecVersion
	if back, err := Decode(b); err != nil || !cmp.Equal(back, e) {
		t.Errorf("decoded %+v, %v", back, err)
	}
	least, err := Envelope{ID: "1", Source: "s", Type: "t"}.Encode()
	if want := `{"specversion":"1.0","id":"1","source":"s","type":"t"}`; err != nil || string(least) != want {
		t.Errorf("encoded %s, %v", least, err)
	}
	if _, err := (Envelope{ID: "1", Data: json.RawMessage(`{`)}).Encode(); err == nil {
		t.Error("broken data was encoded")
	}
}

func TestDecodeNamesTheField(t *testing.T) {
	long := strings.Repeat("x", MaxTopic+1)
	for in, want := range map[string]string{
		``:                               "envelope is not a JSON object",
		`[1]`:                            "envelope is not a JSON object",
		`{"id":"1"`:                      "envelope is not JSON",
		`{}`:                             `specversion is "", want "1.0"`,
		`{"specversion":"0.3"}`:          `specversion is "0.3"`,
		`{"specversion":1.0}`:            "specversion is a JSON number",
		`{"specversion":"1.0"}`:          "id is missing",
		`{"specversion":"1.0","id":7}`:   "id is a JSON number",
		`{"specversion":"1.0","id":"1"}`: "source is missing",
		strings.Replace(golden, `"type":"roomgate.event.doorForced",`, ``, 1):           "type is missing",
		strings.Replace(golden, `"2026-11-21T09:30:00Z"`, `"yesterday"`, 1):             "time is not a time",
		strings.Replace(golden, `"2026-11-21T09:30:00Z"`, `17`, 1):                      "time is not a time",
		strings.Replace(golden, `"sequence":7`, `"sequence":-1`, 1):                     "sequence is a JSON number",
		strings.Replace(golden, `"sequence":7`, `"sequence":"7"`, 1):                    "sequence is a JSON string",
		strings.Replace(golden, `"01J"`, `"`+long+`"`, 1):                               "id has 1025 bytes",
		strings.Replace(golden, `{"a":1}`, `"`+strings.Repeat("x", MaxEnvelope)+`"`, 1): "at most 65536",
	} {
		_, err := Decode([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*EnvelopeError)) {
			t.Errorf("%.60s: %v, want %s", in, err, want)
		}
	}
	if e, err := Decode([]byte(strings.Replace(golden, `{"specversion"`, `{"later":[1],"specversion"`, 1))); err != nil || e.ID != "01J" {
		t.Errorf("an attribute that we do not know: %v", err)
	}
	if _, err := DecodeLarge([]byte(strings.Replace(golden, `{"a":1}`, `"`+strings.Repeat("x", 1<<20)+`"`, 1))); err != nil {
		t.Errorf("a schedule of 1 MiB: %v", err)
	}
}

// What is refused is answered where its id can be read.
func TestRefusedEnvelopeKeepsItsID(t *testing.T) {
	large := `"` + strings.Repeat("x", MaxEnvelope) + `"`
	for in, want := range map[string]string{
		`{"id":"1","data":{}}`:                                "1", // no specversion
		`{"specversion":1,"id":"1"}`:                          "1",
		`{"specversion":"1.0","id":"1","data":` + large + `}`: "1",
		`{"specversion":"1.0","data":` + large + `,"id":"1"}`: "1",
		`{"specversion":"1.0","id":"1","data":{"a":}}`:        "1",
		`{"specversion":"1.0","id":"1","data":{"a"`:           "1",
		`{"specversion":"1.0","id":"1"`:                       "1",
		`{"data":{"id":"2"},"id":"1"}`:                        "1",
		`{"data":{"id":"2"}}`:                                 "",
		`{"data":{"a":},"id":"1"}`:                            "", // beyond where it is broken
		`{"id":{"id":"2"}}`:                                   "",
		`{"id":7}`:                                            "",
		`{"id":"` + strings.Repeat("x", MaxTopic+1) + `"}`:    "",
		`[{"id":"1"}]`:                                        "",
		`"id"`:                                                "",
		`{"id`:                                                "",
	} {
		e, err := Decode([]byte(in))
		if err == nil || e.ID != want {
			t.Errorf("%.60s: id %q, %v, want %q", in, e.ID, err, want)
		}
	}
}

// What decodes is whole, and survives being encoded.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(golden))
	f.Add([]byte(`{"specversion":"1.0","id":"1","source":"s","type":"t","time":null,"sequence":0}`))
	f.Add([]byte(`{"specversion":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Decode(b)
		if err != nil {
			if !errors.As(err, new(*EnvelopeError)) {
				t.Fatalf("error %T", err)
			}
			return
		}
		if e.ID == "" || e.Source == "" || e.Type == "" {
			t.Fatalf("%+v is not whole", e)
		}
		out, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > MaxEnvelope {
			return // escapes may make it longer
		}
		if back, err := Decode(out); err != nil || back.ID != e.ID || back.Sequence != e.Sequence || !back.Time.Equal(e.Time) {
			t.Fatalf("%s became %+v, %v", out, back, err)
		}
	})
}
