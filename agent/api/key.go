package api

import (
	"net/http"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/strict"
)

// listKeys lists the API keys, without their secrets.
func listKeys(s *Server, c *call) error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	keys := s.agent.Access.Keys()
	if c.v2 {
		return list(c, q, keys, keyID, newKeyRecord)
	}
	if keys == nil {
		keys = []access.Key{}
	}
	return c.json(http.StatusOK, struct {
		Keys []access.Key `json:"keys"`
	}{keys})
}

// createKey makes an API key. Its secret is in this answer and nowhere else.
func createKey(s *Server, c *call) error {
	var name string
	var expires time.Time
	err := c.decode(strict.Required("name", &name), strict.Optional("expires_at", &expires))
	if err != nil {
		return err
	}
	key, secret, err := s.agent.Access.CreateKey(c.r.Context(), name, expires)
	if err != nil {
		return err
	}
	if c.v2 {
		return c.json(http.StatusCreated, newSecretKey(key, secret))
	}
	return c.json(http.StatusCreated, struct {
		Key    access.Key `json:"key"`
		Secret string     `json:"secret"`
	}{key, secret})
}

// revokeKey ends a key at once, and the streams that were opened with it.
func revokeKey(s *Server, c *call) error {
	if err := s.agent.Access.RevokeKey(c.r.Context(), c.params[0]); err != nil {
		return err
	}
	return c.none()
}
