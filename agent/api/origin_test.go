package api

import (
	"testing"

	"roomgate/agent/goldentest"
)

// TestPagesOfOtherOrigins: a booking page in a browser speaks to the gateway if
// the configuration names where it is from, and else to nobody.
func TestPagesOfOtherOrigins(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.server.origins = []string{"https://book.example"}
		const asks = "Access-Control-Request-Method: POST"
		for _, c := range []struct {
			what, method, origin, asks string
			status                     int
			allowed, methods, reads    bool
		}{
			{"beforehand", "OPTIONS", "https://book.example", asks, 204, true, true, false},
			{"then", "POST", "https://book.example", "", 200, true, false, true},
			{"a stranger beforehand", "OPTIONS", "https://evil.example", asks, 405, false, false, false},
			{"a stranger", "POST", "https://evil.example", "", 200, false, false, false},
			{"one that only looks alike", "OPTIONS", "https://book.example.evil.example", asks, 405, false, false, false},
			{"no page", "POST", "", "", 200, false, false, false},
			{"no question", "OPTIONS", "https://book.example", "", 405, true, false, true},
		} {
			parts := []string{`{"device_type":"lock"}`}
			if c.origin != "" {
				parts = append(parts, "Origin: "+c.origin)
			}
			if c.asks != "" {
				parts = append(parts, c.asks)
			} else {
				parts = append(parts, "X-API-Key: "+systemKey)
			}
			got := b.net.do(t, c.method, "/devices/"+aurora+"/status", parts...)
			h := got.Header
			goldentest.Values(t, c.what, goldentest.Pairs{"StatusCode": {got.StatusCode, c.status},
				"allowed":                          {h.Get("Access-Control-Allow-Origin") == c.origin && c.origin != "", c.allowed},
				"methods":                          {h.Get("Access-Control-Allow-Methods") != "", c.methods},
				"reads":                            {h.Get("Access-Control-Expose-Headers") != "", c.reads},
				"varies":                           {h.Get("Vary") == "Origin", c.allowed},
				"Access-Control-Allow-Credentials": {h.Get("Access-Control-Allow-Credentials"), ""}})
		}
		got := b.net.do(t, "GET", "/bookings", "Origin: https://book.example")
		if got.StatusCode != 401 || got.Header.Get("Access-Control-Allow-Origin") == "" {
			t.Errorf("a refusal cannot be read: %d %v", got.StatusCode, got.Header)
		}
	})
}
