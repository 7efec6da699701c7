package webhook

import "fmt"

// Notice is a letter to those who look after an organization.
type Notice struct {
	OrganizationID string
	Subject, Text  string
}

// noticeOf says that a webhook is in trouble, and what can be done.
func noticeOf(w Webhook, pending int) Notice {
	at, subject := " at "+hostOf(w.URL), "webhook at "+hostOf(w.URL)
	if w.URL == "" { // it cannot be read
		at, subject = "", "webhook "+w.ID
	}
	text := fmt.Sprintf("The webhook %s%s is %s: %s.\n\n%d deliveries wait for it. ", w.ID, at, w.State, w.Reason, pending)
	if w.State == Disabled {
		text += "It gets no notifications until it is set to active again. If nobody needs it, delete it.\n"
	} else {
		text += "It is still tried, and is active again with the first success. Deliveries that were\ngiven up can be sent again from its log.\n"
	}
	return Notice{w.OrganizationID, fmt.Sprintf("%s is %s", subject, w.State), text}
}
