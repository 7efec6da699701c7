package eventlog

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRowsAreEncodedAsEverybodyWould(t *testing.T) {
	type plain Row // without the method
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		e := Record{text.Draw(t, "type"), time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "time")),
			text.Draw(t, "space"), text.Draw(t, "device"), text.Draw(t, "id"), map[string]any{}}
		for range rapid.IntRange(0, 5).Draw(t, "details") {
			name := rapid.OneOf(text, rapid.Just("device")).Draw(t, "name")
			e.Details[name] = rapid.OneOf(
				rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Int().AsAny(), rapid.Float64Range(-1e6, 1e6).AsAny()).Draw(t, "value")
		}
		data, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		checkRecord(t, e, data)
		r := Row{text.Draw(t, "t"), rapid.Int64().Draw(t, "a"), text.Draw(t, "b"), rapid.Bool().Draw(t, "u"),
			text.Draw(t, "m"), text.Draw(t, "d"), text.Draw(t, "sd"), rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "h"), data}
		got, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(plain(r))
		if err != nil || string(got) != string(want) {
			t.Fatalf("the row is\n%s, want\n%s (%v)", got, want, err)
		}
	})
}

// checkRecord decodes a record and compares it part by part.
func checkRecord(t *rapid.T, e Record, data []byte) {
	want := maps.Clone(e.Details)
	want["meeting_space_id"], want["device"], want["device_id"] = e.Space, e.Device, e.DeviceID
	if e.DeviceID == "" { // an event of no device
		delete(want, "device_id")
	}
	raw, err := json.Marshal(map[string]any{"eventType": e.Type, "timestamp": e.Time.UTC().Format(TimeLayout), "details": want})
	if err != nil {
		t.Fatal(err)
	}
	var whole, same any
	if json.Unmarshal(raw, &whole) != nil || json.Unmarshal(data, &same) != nil || !cmp.Equal(whole, same) {
		t.Fatalf("the event is\n%s, want\n%s", data, raw)
	}
}

func TestEmptyRowCanBeReadAgain(t *testing.T) {
	b, err := Row{}.AppendJSON(nil)
	var back Row
	if err != nil || json.Unmarshal(b, &back) != nil {
		t.Fatalf("%s: %v", b, err)
	}
	if diff := cmp.Diff(Row{Data: json.RawMessage("null")}, back); diff != "" {
		t.Error(diff)
	}
}
