package agent

import (
	"fmt"

	"roomgate/agent/problem"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// notice is a letter to those who look after an organization.
type notice struct {
	organization, subject, text string
}

// noticeOf says that a webhook is in trouble, and what can be done.
func noticeOf(w webhook.Webhook, pending int) notice {
	text := fmt.Sprintf("The webhook %s at %s is %s: %s.\n\n%d deliveries wait for it. ", w.ID, hostOf(w.URL), w.State, w.Reason, pending)
	if w.State == webhook.Disabled {
		text += "It is told of nothing until it is set to active again. If nobody needs it, delete it.\n"
	} else {
		text += "It is still tried, and is active again with the first success. What was given up\ncan be redelivered from the log of its deliveries.\n"
	}
	return notice{w.OrganizationID, fmt.Sprintf("webhook at %s is %s", hostOf(w.URL), w.State), text}
}

// queueNotices queues notices, where there is a mail relay, in the transaction
// that stores what they tell of: a power cut takes both or neither. For one
// that cannot be queued, because nobody is to be told or too many letters wait,
// the event says the same.
func (a *Agent) queueNotices(tx *store.Tx, all []notice) error {
	if a.config.SMTP.URL == "" {
		return nil
	}
	for _, n := range all {
		letters := a.adminLetters(n.organization, n.subject, n.text)
		err := noAdmin()
		if len(letters) > 0 {
			err = a.signIn.mail.Put(tx, letters...)
		}
		switch {
		case problem.As(err) != nil:
			a.log.Warn("the admin cannot be told by mail that a webhook is in trouble, the event log has it", "error", err)
		case err != nil:
			return err
		}
	}
	return nil
}
