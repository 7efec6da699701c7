package auth

import (
	"errors"
	"net/mail"
	"strings"
)

// ParseSender reads who a letter is from, as "Name <name@example.com>" or an
// address. The address is ASCII.
func ParseSender(text string) (*mail.Address, error) {
	a, err := mail.ParseAddress(text)
	if err != nil || strings.ContainsFunc(a.Address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("is not a sender: want Name <name@example.com>")
	}
	return a, nil
}
