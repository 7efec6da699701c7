package api

import "net/http"

// consolePair makes a pairing code for a meeting space, and answers with the dialog that
// shows it once.
func consolePair(s *Server, c *call) error {
	if err := s.ownOrigin(c.r); err != nil {
		return err
	}
	space, err := s.agent.Site.Space(c.params[0])
	if err != nil {
		return err
	}
	if err := c.decodeAny(); err != nil {
		return err
	}
	code, life, err := s.newPairingCode(c.r.Context(), space.ID)
	if err != nil {
		return err
	}
	body, err := s.console.Pairing(space.Name, code, s.address(c.r)+"/display/"+space.ID+"#code="+code, life)
	if err != nil {
		return err
	}
	return c.page(http.StatusOK, body)
}
