package api

import (
	"encoding/json"
	"net/http"
	"time"

	"roomgate/agent/strict"
)

// tokenAnswer is a token that an API key bought.
type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresAt   moment `json:"expires_at"`
}

// createToken sells an API key a short-lived token with its rights, or with
// fewer. A token buys none.
func createToken(s *Server, c *call) error {
	var permissions *[]json.RawMessage
	var seconds *int64
	err := c.decodeAny(strict.Given("permissions", &permissions), strict.Given("expires_in", &seconds))
	if err != nil {
		return err
	}
	named, err := texts("permissions", value(permissions))
	if err != nil {
		return err
	}
	if permissions != nil && len(named) == 0 {
		return invalid("permissions", "is empty: leave it out for all that the key has")
	}
	life, err := tokenLife(seconds)
	if err != nil {
		return err
	}
	token, expires, err := s.agent.Access.Token(c.who.Principal, named, life)
	if err != nil {
		return err
	}
	return c.data(http.StatusOK, tokenAnswer{token, "Bearer", moment(expires)})
}

// longestToken is how long a token may be asked to be good, in seconds.
const longestToken = 3600

// tokenLife is how long a token is asked to be good; 0: as usual.
func tokenLife(seconds *int64) (time.Duration, error) {
	if seconds == nil {
		return 0, nil
	}
	if *seconds < 1 || *seconds > longestToken {
		return 0, invalid("expires_in", "is out of range: want 1 to 3600 seconds")
	}
	return time.Duration(*seconds) * time.Second, nil
}
