package api

import (
	"net/http"

	"roomgate/agent/auth"
	"roomgate/agent/strict"
)

// otpRequested is the answer to a request for a one-time password, whether
// the address is a user's or not.
var otpRequested = struct {
	Message   string `json:"message"`
	ExpiresIn int    `json:"expires_in"` // seconds
}{"if the address may sign in here, a one-time password is on its way to it", int(auth.CodeLife.Seconds())}

// otpRequested2 is the same of V2.0.
var otpRequested2 = struct {
	Message    string `json:"message"`
	ExpiresInS int    `json:"expires_in_s"`
}{otpRequested.Message, otpRequested.ExpiresIn}

// requestOTP sends a one-time password to a user's address.
func requestOTP(s *Server, c *call) error {
	var email string
	if err := c.decode(strict.Required("email", &email)); err != nil {
		return err
	}
	if err := s.agent.Access.RequestOTP(c.r.Context(), email, clientHost(c.r)); err != nil {
		return err
	}
	if c.v2 {
		return c.json(http.StatusOK, otpRequested2)
	}
	return c.data(http.StatusOK, otpRequested)
}

// signedInUser is the platform's record of a user.
type signedInUser struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// signedIn is the platform's answer to a right one-time password.
type signedIn struct {
	AccessToken string       `json:"access_token"`
	User        signedInUser `json:"user"`
}

// verifyOTP takes a one-time password and gives a token for it.
func verifyOTP(s *Server, c *call) error {
	var email, otp, organization string
	if err := c.decode(strict.Required("email", &email), strict.Required("otp", &otp), strict.Optional("organization_id", &organization)); err != nil {
		return err
	}
	token, u, err := s.agent.Access.VerifyOTP(c.r.Context(), email, otp, clientAddress(c.r), organization)
	if err != nil {
		return err
	}
	return c.data(http.StatusOK, signedIn{token, signedInUser{u.ID, u.Email, u.Name}})
}
