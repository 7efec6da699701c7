package webhook

import "fmt"

// Notice is a letter to those who look after an organization.
type Notice struct {
	OrganizationID string
	Subject, Text  string
}

// noticeOf says that a webhook is in trouble, and what can be done.
func noticeOf(w Webhook, pending int) Notice {
	text := fmt.Sprintf("The webhook %s at %s is %s: %s.\n\n%d deliveries wait for it. ", w.ID, hostOf(w.URL), w.State, w.Reason, pending)
	if w.State == Disabled {
		text += "It gets no notifications until it is set to active again. If nobody needs it, delete it.\n"
	} else {
		text += "It is still tried, and is active again with the first success. What was given up\ncan be redelivered from the log of its deliveries.\n"
	}
	return Notice{w.OrganizationID, fmt.Sprintf("webhook at %s is %s", hostOf(w.URL), w.State), text}
}
