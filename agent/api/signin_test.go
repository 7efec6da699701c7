package api

import (
	"strings"
	"testing"
	"time"
)

// TestSignIn goes from the address to the first booking, and back out.
func TestSignIn(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		code := b.code(t, "mel@example.com")
		verify := func(code string) answer {
			return b.net.do(t, "POST", "/api/v1/auth/otp/verify", `{"email":" MEL@example.com ","otp":"`+code+`"}`)
		}
		wrong := "111111"
		if code == wrong {
			wrong = "222222"
		}
		checkProblem(t, "a wrong code", verify(wrong), 401, "unauthorized", "otp")
		got := verify(code)
		if got.StatusCode != 200 || !strings.HasPrefix(got.body, `{"data":{"access_token":"ey`) ||
			!strings.HasSuffix(got.body, `","user":{"id":"mel","email":"mel@example.com","name":"Mel"}}}`) {
			t.Fatalf("verify: %d %s", got.StatusCode, got.body)
		}
		again := verify(code)
		checkProblem(t, "a used code", again, 401, "unauthorized", "otp")
		if len(again.Header["Www-Authenticate"]) != 3 {
			t.Errorf("WWW-Authenticate is %q", again.Header["Www-Authenticate"])
		}
		token := "Authorization: Bearer " + strings.Split(got.body, `"`)[5]
		booked := b.net.do(t, "POST", "/bookings", token, `{"meeting_space_id":"`+aurora+`","start_time":"2000-01-02T10:00:00Z","minutes":30}`)
		if booked.StatusCode != 201 || !strings.Contains(booked.body, `"organization_id":"`+auroraOrg+`"`) {
			t.Errorf("booked: %d %s", booked.StatusCode, booked.body)
		}
		checkProblem(t, "an order", b.net.do(t, "POST", "/devices/"+aurora+"/action", token, `{"device_type":"light","action":"on"}`), 403, "forbidden", "")
		checkProblem(t, "a token for a token", b.net.do(t, "POST", "/api/v1/auth/token", token), 403, "forbidden", "")
		time.Sleep(30 * time.Minute)
		checkProblem(t, "later than a sign-in lasts", b.net.do(t, "GET", "/bookings", token), 401, "unauthorized", "Authorization")
	}, tenants)
}

// TestStrangersGetTheSameAnswer compares a user, a stranger, and one whose
// address is another's.
func TestStrangersGetTheSameAnswer(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ask := func(email string) answer {
			got := b.net.do(t, "POST", "/api/v1/auth/otp/request", `{"email":"`+email+`"}`)
			time.Sleep(time.Second) // the letter goes, or the next code would take its place
			return got
		}
		user, stranger := ask("mel@example.com"), ask("eve@example.com")
		if user.StatusCode != 200 || stranger.StatusCode != 200 || user.body != stranger.body {
			t.Errorf("a user is answered %d %s, a stranger %d %s", user.StatusCode, user.body, stranger.StatusCode, stranger.body)
		}
		for _, email := range []string{"mel@example.com", "eve@example.com"} {
			for i := range 5 {
				if got := ask(email); (got.StatusCode == 429) != (i == 4) {
					t.Fatalf("%s asks once more: %d %s", email, got.StatusCode, got.body)
				}
			}
			got := ask(email)
			checkProblem(t, email, got, 429, "too_many_requests", "")
			if got.Header.Get("Retry-After") == "" {
				t.Error("nobody says when to try again")
			}
		}
		letters := b.relay.Letters()
		if len(letters) != 5 {
			t.Errorf("%d letters, want one for each code", len(letters))
		}
		for _, l := range letters {
			if l.To != "mel@example.com" {
				t.Errorf("a letter to %s", l.To)
			}
		}
	}, tenants)
}

func TestBadSignIn(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct{ path, body, field string }{
			{"otp/request", `{}`, "email"},
			{"otp/request", `{"email":7}`, "email"},
			{"otp/request", `{"email":"mel"}`, "email"},
			{"otp/request", `{"email":"mel@example.com\r\nBcc: eve@example.com"}`, "email"},
			{"otp/request", `{"email":"mel@example.com","otp":"1"}`, "otp"},
			{"otp/verify", `{"email":"mel@example.com"}`, "otp"},
			{"otp/verify", `{"email":"mel@example.com","otp":123456}`, "otp"},
			{"otp/verify", `{"email":"mel@example.com","otp":"12345"}`, "otp"},
		} {
			checkProblem(t, c.body, b.net.do(t, "POST", "/api/v1/auth/"+c.path, c.body), 422, "invalid", c.field)
		}
		for body, field := range map[string]string{
			`{"permissions":[]}`: "permissions", `{"permissions":["doors:open"]}`: "permissions", `{"permissions":[1]}`: "permissions",
			`{"expires_in":0}`: "expires_in", `{"expires_in":3601}`: "expires_in", `{"expires_in":"1h"}`: "expires_in", `{"admin":true}`: "admin",
		} {
			checkProblem(t, body, b.ask("POST", "/api/v1/auth/token", body), 422, "invalid", field)
		}
		_, header := b.orgKey(t, auroraOrg, "devices:read")
		more := b.net.do(t, "POST", "/api/v1/auth/token", header, `{"permissions":["devices:read","devices:write"]}`)
		checkProblem(t, "more than the key has", more, 403, "forbidden", "permissions")
	}, tenants)
	inBuilding(t, func(t *testing.T, b *building) {
		got := b.net.do(t, "POST", "/api/v1/auth/otp/request", `{"email":"mel@example.com"}`)
		checkProblem(t, "without a relay", got, 503, "unavailable", "")
	})
}
