package cloud

import (
	"errors"
	"testing"
	"time"
)

func TestDataIntoNamesWhatItDoesNotTake(t *testing.T) {
	type inner struct {
		Start time.Time `json:"start"`
	}
	type data struct {
		From  uint64    `json:"from"`
		At    time.Time `json:"at"`
		Inner []inner   `json:"inner"`
		Risk  int       `json:"risk"`
	}
	for raw, want := range map[string]string{
		`{}`:                            "",
		`{"from":1,"inner":[{}]}`:       "",
		`{"from":1,"form":2}`:           "form",
		`{"inner":[{"strat":1}]}`:       "strat",
		`{"a\"b":1}`:                    `a"b`,
		`{"from":1,"from":1}`:           "from",
		`{"from":1,"FROM":2}`:           "FROM",
		`{"inner":[],"inner":[]}`:       "inner",
		"{\"risk\":1,\"ri\u017fk\":2}":  "ri\u017fk",
		"{\"risk\":1,\"ris\u212a\":2}":  "ris\u212a",
		`{"from":-1}`:                   "from",
		`{"from":"1"}`:                  "from",
		`{"from":18446744073709551616}`: "from",
		`{"at":"soon"}`:                 "data",
		`null`:                          "data",
		``:                              "data",
		`[1]`:                           "data",
		`7`:                             "data",
		`"x"`:                           "data",
	} {
		var into data
		err := Envelope{Data: []byte(raw)}.DataInto(&into)
		var e *EnvelopeError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", raw, err)
		case want != "" && (!errors.As(err, &e) || e.Field != want):
			t.Errorf("%s: %v, want it to name %s", raw, err, want)
		}
	}
}

// TestDecodeKeepsTheID of what it refuses, so that somebody can be told.
func TestDecodeKeepsTheID(t *testing.T) {
	for raw, want := range map[string]string{
		`{"id":"a","specversion":"1.0","source":"s","type":"t","time":"now"}`: "a",
		`{"id":"a"}`:                         "a",
		`{"time":5,"sequence":"x","id":"a"}`: "a",
		`{"id":5}`:                           "",
		`{"id":"a"`:                          "a", // broken behind it
		`{"id`:                               "",
		`[]`:                                 "",
	} {
		if e, err := Decode([]byte(raw)); err == nil || e.ID != want || e.Source != "" {
			t.Errorf("%s: %+v, %v, want an error and the id %q", raw, e, err, want)
		}
	}
}

// TestCheckAttributes: an expiry that nobody reads, beside the data, is no expiry.
func TestCheckAttributes(t *testing.T) {
	for more, field := range map[string]string{
		`"traceparent":"00-0af7"`: "", `"partitionkey":"a","x1":2`: "",
		`"expires_at":"2026-11-23T00:00:00Z"`: "expires_at", `"ttl_s":5`: "ttl_s", `"expirytime":"2026-11-23T00:00:00Z"`: "expirytime", `"ttl":5`: "ttl",
		`"time":"2020-01-01T00:00:00Z","time":"2026-11-23T00:00:00Z"`: "time", `"TIME":"2026-11-23T00:00:00Z"`: "TIME", `"":1`: "",
	} {
		err := CheckAttributes([]byte(`{"specversion":"1.0","id":"c1","source":"backend","type":"roomgate.command","data":{"ttl_s":5},` + more + `}`))
		var wrong *EnvelopeError
		if found := errors.As(err, &wrong); found != (field != "" || more == `"":1`) || found && wrong.Field != field {
			t.Errorf("%s: %v, want %q named", more, err, field)
		}
	}
}
