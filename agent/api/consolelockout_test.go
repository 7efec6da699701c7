package api

import (
	"net/http"
	"testing"
)

// TestWrongCodesLockNobodyOut: a guest of the network guesses codes of the console, and who
// has the right one comes in from the same network.
func TestWrongCodesLockNobodyOut(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for range 50 {
			b.net.do(t, "POST", "/console/session", `{"code":"AAAA-AAAA"}`)
		}
		if got := b.net.do(t, "POST", "/console/session", `{"code":"AAAA-AAAA"}`); got.StatusCode != http.StatusTooManyRequests {
			t.Errorf("a wrong one: %d", got.StatusCode)
		}
		code, _, err := b.agent.Access.Console.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := b.net.do(t, "POST", "/console/session", `{"code":"`+code+`"}`); got.StatusCode != http.StatusCreated {
			t.Errorf("the right one: %d", got.StatusCode)
		}
	}, roles)
}
