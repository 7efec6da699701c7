package agent

import (
	"context"
	"fmt"

	"roomgate/agent/webhook"
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

// notify queues a notice where there is a mail relay. The event says the same,
// so one that cannot be queued is not tried again.
func (a *Agent) notify(ctx context.Context, n notice) {
	if a.config.SMTP.URL == "" {
		return
	}
	if err := a.MailAdmins(ctx, n.organization, n.subject, n.text); err != nil {
		a.log.Warn("the admin cannot be told by mail that a webhook is in trouble, the event log has it", "error", err)
	}
}
