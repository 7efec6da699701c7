package agent

import (
	"roomgate/agent/eventlog"
	"roomgate/agent/mail"
	"roomgate/agent/problem"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// adminLetters tell those who look after an organization, or with an empty id
// after the building.
func adminLetters(a *Agent, organizationID, subject, text string) (letters []mail.Letter) {
	for _, u := range a.Access.Admins(organizationID) {
		letters = append(letters, mail.Letter{To: u.Email, Subject: subject, Text: text})
	}
	return letters
}

func noAdmin() error {
	return problem.New(problem.NotFound, "users", "has no admin who could be told: name one")
}

// stageNotices queues notices to admins, where there is a mail relay, in the
// transaction that stores what they tell of: a power cut takes both or neither.
func stageNotices(a *Agent, all []webhook.Notice) eventlog.Stage {
	if len(all) == 0 || a.config.SMTP.URL == "" {
		return eventlog.Stage{}
	}
	return eventlog.Stage{Show: a.mail.Wake, Write: func(tx *store.Tx) error {
		for _, n := range all {
			if err := queueNotice(a, tx, n); err != nil {
				return err
			}
		}
		return nil
	}}
}

// queueNotice queues one. If that cannot be, because nobody is to be told or too
// many letters wait, the event says the same.
func queueNotice(a *Agent, tx *store.Tx, n webhook.Notice) error {
	letters := adminLetters(a, n.OrganizationID, n.Subject, n.Text)
	err := noAdmin()
	if len(letters) > 0 {
		err = a.mail.Put(tx, letters...)
	}
	if problem.As(err) != nil {
		a.options.Log.Warn("cannot tell the admin by mail that a webhook is in trouble, the event log has it", "error", err)
		return nil
	}
	return err
}
