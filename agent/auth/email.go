package auth

import (
	"errors"
	"net/mail"
	"strings"
)

// maxEmail is the longest address that a mail can be sent to (RFC 5321
// section 4.5.3.1.3, without the angle brackets).
const maxEmail = 254

var errEmail = errors.New("is not an e-mail address: want one like name@example.com")

// ParseEmail reads an e-mail address and returns it in the form in which two
// are compared: small letters, no space around it. Addresses are ASCII, the
// part before the @ is not quoted.
func ParseEmail(text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) > maxEmail || strings.ContainsFunc(text, unfit) {
		return "", errEmail
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Name != "" || a.Address != text {
		return "", errEmail
	}
	return text, nil
}

// unfit says whether a letter has no place in an address: what is not printed,
// what ends or quotes one in a header or a command, and what is not ASCII.
func unfit(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`"<>(),;:\[]`, r)
}
