package agent

import (
	"log/slog"

	"roomgate/agent/access"
	"roomgate/agent/eventlog"
	"roomgate/agent/mail"
	"roomgate/agent/problem"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// adminMail writes to those who look after an organization or the building.
type adminMail struct {
	access *access.Directory
	queue  *mail.Queue
	log    *slog.Logger
}

// letters are one to each admin of an organization, or with an empty id of the building.
func (m adminMail) letters(organizationID, subject, text string) (letters []mail.Letter) {
	for _, u := range m.access.Admins(organizationID) {
		letters = append(letters, mail.Letter{To: u.Email, Subject: subject, Text: text})
	}
	return letters
}

func noAdmin() error {
	return problem.New(problem.NotFound, "users", "has no admin who could be told: name one")
}

// stage queues notices in the transaction that stores what they tell of: a power
// cut takes both or neither.
func (m adminMail) stage(all []webhook.Notice) eventlog.Stage {
	if len(all) == 0 {
		return eventlog.Stage{}
	}
	return eventlog.Stage{Show: m.queue.Wake, Write: func(tx *store.Tx) error {
		for _, n := range all {
			if err := m.put(tx, n); err != nil {
				return err
			}
		}
		return nil
	}}
}

// put queues one notice. If there is no admin, or too many letters wait, the
// event log is where the trouble can be read.
func (m adminMail) put(tx *store.Tx, n webhook.Notice) error {
	letters := m.letters(n.OrganizationID, n.Subject, n.Text)
	err := noAdmin()
	if len(letters) > 0 {
		err = m.queue.Put(tx, letters...)
	}
	if problem.As(err) != nil {
		m.log.Warn("cannot tell the admin by mail that a webhook is in trouble, the event log has it", "error", err)
		return nil
	}
	return err
}
