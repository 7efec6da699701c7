package console

import (
	"fmt"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/webhook"
)

// webhooks are who is notified by HTTP.
func webhooks() Section {
	return Section{Name: "webhooks", Title: "Webhooks", Hidden: true, Least: Admin, Parts: []string{"list", "new"}, View: viewWebhooks}
}

// deliveries are what one of them was sent.
func deliveries() Section {
	return Section{Name: "deliveries", Title: "Webhook", Hidden: true, Least: Admin, Parts: []string{"list"}, View: viewDeliveries}
}

const (
	webhooksPath = "/v2.0/webhooks"
	// maxDeliveries is how many the page shows.
	maxDeliveries = 50
	// deliveryPace is how often the page looks: deliveries are no events.
	deliveryPace = 5 * time.Second
)

// Webhooks is what the page shows.
type Webhooks struct {
	List Table
	New  Form
}

func viewWebhooks(l *Look) (any, time.Time, error) {
	all, names, err := l.organizationChoices()
	if err != nil {
		return nil, time.Time{}, err
	}
	t := Table{Label: "Webhooks", Head: []string{"Organization", "Address", "State", "Waiting", "Last success", "Last failure"}, None: "No webhooks yet."}
	for _, w := range l.o.Agent.Webhooks.List(l.Who.OrganizationID) {
		failed := l.moment(w.LastFailureAt)
		if w.LastError != "" {
			failed += ": " + w.LastError
		}
		t.Rows = append(t.Rows, Row{Cells: []string{names[w.OrganizationID], w.URL, joined(": ", string(w.State), w.Reason), fmt.Sprint(w.Pending), l.moment(w.LastSuccessAt), failed},
			Bad: w.State != webhook.Active, Acts: []Button{{ID: "open-" + w.ID, Label: "Deliveries", To: "/console/deliveries?webhook=" + w.ID}}})
	}
	events := Input{Name: "events", Label: "Events", Type: "checks"}
	for _, name := range webhook.Events() {
		events.Choices = append(events.Choices, Choice{name, name, false})
	}
	return Webhooks{t, Form{ID: "webhook-new", Title: "Add a webhook", Send: "POST " + webhooksPath, Done: "The secret is shown only now", Show: "Signing secret=secret, Id=id", Button: "Add",
		Note: "It gets a signed POST for each event. A secret is made for it; its receiver checks signatures by that.",
		Fields: []Input{{ID: "webhook-of", Name: "organization_id", Label: "Organization", Type: "select", Choices: all, Required: true},
			{ID: "webhook-url", Name: "url", Label: "Address", Type: "url", Required: true, Max: 2000}, events}}}, time.Now().Add(deliveryPace), nil
}

// Deliveries is what the page of a webhook shows.
type Deliveries struct {
	URL, Events, State string
	Acts               []Button
	List               Table
}

func viewDeliveries(l *Look) (any, time.Time, error) {
	w, err := l.o.Agent.Webhooks.Get(l.Query.Get("webhook"))
	if err == nil && !l.Who.Sees(w.OrganizationID) {
		err = problem.New(problem.NotFound, "webhook", "is not a webhook of this gateway")
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	found, _, err := l.o.Agent.Webhooks.Deliveries(w.ID, maxDeliveries, "")
	path := webhooksPath + "/" + w.ID
	v := Deliveries{URL: w.URL, Events: joined(", ", append([]string{}, w.Events...)...), State: joined(": ", string(w.State), w.Reason), Acts: []Button{
		{ID: "test", Label: "Send a test", Send: "POST " + path + "/test", Done: "Test: {state}."},
		{ID: "rotate", Label: "Another secret", Send: "POST " + path + "/rotate-secret", Body: struct{}{}, Sure: "Make another secret? The old one signs too for 24 hours.",
			Done: "The secret is shown only now", Show: "Signing secret=secret"}}}
	if w.State == webhook.Disabled {
		v.Acts = append(v.Acts, Button{ID: "enable", Label: "Enable", Send: "PATCH " + path, Body: map[string]string{"state": string(webhook.Active)}, Done: "Enabled."})
	} else {
		v.Acts = append(v.Acts, Button{ID: "disable", Label: "Disable", Send: "PATCH " + path, Body: map[string]string{"state": string(webhook.Disabled)}, Sure: "Disable the webhook?", Done: "Disabled.", Danger: true})
	}
	v.Acts = append(v.Acts, Button{ID: "delete", Label: "Delete", Send: "DELETE " + path, Sure: "Delete the webhook and what waits for it?", Done: "Deleted.", Danger: true})
	v.List = Table{Label: "Deliveries", Head: []string{"Time", "Event", "State", "Attempts", "The last one"}, None: "Nothing was delivered yet. Send a test."}
	for _, d := range found {
		v.List.Rows = append(v.List.Rows, l.deliveryRow(path, d))
	}
	return v, time.Now().Add(deliveryPace), err
}

func (l *Look) deliveryRow(path string, d webhook.Delivery) Row {
	last, state := "-", string(d.State)
	if n := len(d.Attempts); n > 0 {
		a := d.Attempts[n-1]
		last = fmt.Sprintf("%d in %s", a.Status, age(time.Duration(a.TookMS)*time.Millisecond))
		if a.Status == 0 {
			last = a.Error
		} else if a.Error != "" {
			last += ": " + a.Error
		}
	}
	if d.State == webhook.Pending {
		state += ", next at " + l.moment(d.NextAt)
	}
	row := Row{Cells: []string{l.moment(d.CreatedAt), d.Event, state, fmt.Sprint(d.Count), last}, Bad: d.State == webhook.Failed}
	if d.State != webhook.Pending && d.Event != webhook.EventTest {
		row.Acts = []Button{{ID: "again-" + d.ID, Label: "Deliver again", Send: "POST " + path + "/deliveries/" + d.ID + "/redeliver", Done: "It is delivered again."}}
	}
	return row
}
