package outgoing

import (
	"net/http"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "-5": 0, "1.5": 0, "soon": 0,
		"99999999999999999999999": 24 * time.Hour, "86401": 24 * time.Hour,
		noon.Add(time.Hour).Format(http.TimeFormat):        time.Hour,
		noon.Add(-time.Hour).Format(http.TimeFormat):       0,
		noon.Add(1000 * time.Hour).Format(http.TimeFormat): 24 * time.Hour,
		"Sun, 06 Nov 1994 08:49:37 GMT":                    0,
		"9223372036854775807":                              24 * time.Hour,
	} {
		if got := RetryAfter(text, noon); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Sun, 06 Nov 2094 08:49:37 GMT")
	f.Fuzz(func(t *testing.T, text string) {
		if got := RetryAfter(text, noon); got < 0 || got > LongestRetryAfter {
			t.Errorf("%q: %v", text, got)
		}
	})
}
