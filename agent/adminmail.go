package agent

import (
	"context"

	"roomgate/agent/mail"
)

// MailAdmins sends a text to those who look after an organization, or with an
// empty id after the building. It is queued when MailAdmins returns nil.
func (a *Agent) MailAdmins(ctx context.Context, organizationID, subject, text string) error {
	letters := a.adminLetters(organizationID, subject, text)
	if len(letters) == 0 {
		return noAdmin()
	}
	return a.signIn.mail.Post(ctx, letters...)
}

// adminLetters are the letters of MailAdmins.
func (a *Agent) adminLetters(organizationID, subject, text string) (letters []mail.Letter) {
	for _, u := range a.Access.Admins(organizationID) {
		letters = append(letters, mail.Letter{To: u.Email, Subject: subject, Text: text})
	}
	return letters
}

func noAdmin() error {
	return refuse(NotFound, "users", "has no admin who could be told: name one")
}
