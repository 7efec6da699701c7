package api

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"roomgate/agent/eventlog"
)

// plainAudit is the audit event of a change that has no name of its own.
const plainAudit = "changed"

// audited names the audit events of what people and keys change, by the operation of V1.0.
var audited = map[string]string{
	"POST /api/v1/organizations":                                       "organizationCreated",
	"PATCH /api/v1/organizations/{organization_id}":                    "organizationRenamed",
	"DELETE /api/v1/organizations/{organization_id}":                   "organizationDeleted",
	"POST /gateway/users":                                              "userCreated",
	"PATCH /gateway/users/{user_id}":                                   "userChanged",
	"DELETE /gateway/users/{user_id}":                                  "userDeleted",
	"POST /api/v1/organizations/{organization_id}/api-keys":            "apiKeyCreated",
	"DELETE /api/v1/organizations/{organization_id}/api-keys/{key_id}": "apiKeyRevoked",
	"POST /gateway/keys":                                               "apiKeyCreated",
	"DELETE /gateway/keys/{key_id}":                                    "apiKeyRevoked",
	"POST /gateway/users/{user_id}/enable":                             "userEnabled",
	"POST /gateway/users/{user_id}/disable":                            "userDisabled",
	"POST /gateway/users/{user_id}/sign-out":                           "userSignedOut",
	"POST /gateway/users/sign-out":                                     "everybodySignedOut",

	"POST /api/v1/webhooks":                            "webhookCreated",
	"PATCH /api/v1/webhooks/{webhook_id}":              "webhookChanged",
	"DELETE /api/v1/webhooks/{webhook_id}":             "webhookDeleted",
	"POST /api/v1/webhooks/{webhook_id}/rotate-secret": "webhookSecretRotated",
	"POST /rules":             "ruleCreated",
	"PATCH /rules/{rule_id}":  "ruleChanged",
	"DELETE /rules/{rule_id}": "ruleDeleted",

	"POST /meetingspace/{meeting_space_id}/state":           "stateScheduled",
	"GET /meetingspace/{meeting_space_id}/state/disable":    "stateDisabled",
	"POST /meetingspace/{meeting_space_id}/availability":    "availabilityChanged",
	"POST /meetingspace/{meeting_space_id}/calendar":        "calendarLinked",
	"DELETE /meetingspace/{meeting_space_id}/calendar":      "calendarUnlinked",
	"POST /meetingspace/{meeting_space_id}/calendar/feed":   "calendarFeedCreated",
	"DELETE /meetingspace/{meeting_space_id}/calendar/feed": "calendarFeedRevoked",
	"POST /meetingspace/{meeting_space_id}/claim-code":      "claimCodeCreated",
	"POST /console/pair/{meeting_space_id}":                 "claimCodeCreated",
	"POST /console/session":                                 "consoleSignedIn",
	"DELETE /console/session":                               "consoleSignedOut",
}

// Why an operation has no event of its own here.
const (
	asks      = "it asks, and changes nothing"
	tells     = "its noun writes the event, in the transaction of the change"
	signsIn   = "it lets somebody in"
	lives     = "a display or a board says how it is"
	sends     = "it sends what is so"
	delivered = "the log of deliveries has it"
	ends      = "it ends what has an event of its own, and nothing of it has left"
)

// unaudited are the operations of V1.0, besides those that read, that have none.
var unaudited = map[string]string{
	"POST /api/v1/auth/otp/request": signsIn, "POST /api/v1/auth/otp/verify": signsIn, "POST /api/v1/auth/token": signsIn,
	"POST /console/accept/{action}":           tells,
	"POST /console/setup/{action}":            tells,
	"POST /console/made/{file}":               tells,
	"DELETE /console/made/{file}":             ends,
	"POST /console/update/{action}":           tells,
	"POST /devices/{meeting_space_id}/status": asks, "POST /devices/{meeting_space_id}/control": asks, "POST /rules/{rule_id}/test": asks,
	"POST /devices/{meeting_space_id}/action": tells, "POST /edge/control": tells,
	"POST /devices": tells, "PATCH /devices/{device_id}": tells, "DELETE /devices/{device_id}": tells,
	"POST /devices/{device_id}/sensors": tells, "DELETE /devices/{device_id}/sensors/{sub_device}": tells,
	"POST /devices/{device_id}/enable": tells, "POST /devices/{device_id}/disable": tells, "POST /edge/enable": tells,
	"PUT /meetingspace/{meeting_space_id}/unlock-codes": tells, "DELETE /meetingspace/{meeting_space_id}/unlock-codes/{code_id}": tells,
	"DELETE /meetingspace/{meeting_space_id}/unlock-codes/lockout": tells,
	"POST /edge/register":                   tells,
	"POST /display/{meeting_space_id}/pair": tells, "POST /display/{meeting_space_id}/do/{action}": tells,
	"DELETE /gateway/edge/{edge_id}": tells, "DELETE /claim": tells,
	"POST /edge/heartbeat": lives, "POST /meetingspace/{meeting_space_id}/screenshot": lives,
	"GET /meetingspace/{meeting_space_id}/state/send": sends, "GET /bookings/{booking_id}/state/send": sends, "POST /messages": sends,
	"POST /bookings": tells, "POST /bookings/bulk": tells, "PATCH /bookings/{booking_id}": tells, "DELETE /bookings/{booking_id}": tells,
	"POST /bookings/{booking_id}/check-in": tells, "POST /bookings/{booking_id}/extend": tells, "POST /bookings/{booking_id}/end": tells,
	"POST /api/v1/webhooks/{webhook_id}/test":                               delivered,
	"POST /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": delivered,
}

// literals are the operations of V1.0 by those of V2.0. The table of twins is large, and made with each use.
var literals = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, t := range twins() {
		all[t.method+" "+v2Prefix+t.path], _, _ = strings.Cut(t.of, ", ")
	}
	return all
})

// literal is the operation of V1.0 that a route is, or is the twin of.
func (r route) literal() string { return cmp.Or(literals()[r.name()], r.name()) }

// changes says whether an operation changes something, as some do by GET in V1.0.
func (r route) changes() bool { return r.method != http.MethodGet || r.permission == permitSpacesWrite }

// audit is the audit event that a route leaves; empty: none. A route that changes something and is
// in no table leaves one too.
func (r route) audit() string {
	name := r.literal()
	if _, none := unaudited[name]; none || !r.changes() {
		return ""
	}
	if kind := audited[name]; kind != "" {
		return kind
	}
	return plainAudit
}

// toAudit lets the change that a call makes write its audit event, in its own transaction.
func (c *call) toAudit() {
	if c.operation.audit == "" {
		return
	}
	r := eventlog.Record{Type: c.operation.audit, Time: time.Now(), Device: eventlog.GatewayDevice,
		Details: map[string]any{"by": c.who.Name, "by_id": c.who.ID, "by_kind": c.who.Kind}}
	if r.Type == plainAudit {
		r.Details["operation"] = c.operation.name()
	}
	for i, name := range c.operation.values() {
		if name == "meeting_space_id" {
			r.Space, r.Device = c.params[i], eventlog.SpaceDevice
			continue
		}
		r.Details[name] = c.params[i]
	}
	c.r = c.r.WithContext(c.server.agent.Events.WithAudit(c.r.Context(), r))
}

// tellAudit writes an audit event of what no transaction changes, before it is so.
func tellAudit(c *call, kind string, details map[string]any) error {
	all := map[string]any{"by": c.who.Name, "by_id": c.who.ID, "by_kind": c.who.Kind}
	maps.Copy(all, details)
	return c.server.agent.Health.NoteGateway(c.r.Context(), kind, all)
}

// changed wakes those who follow the log, of which a noun that does not write events need
// not know. It comes before the answer: who knows of a change finds it in the log.
func (c *call) changed() {
	if c.operation != nil && c.operation.audit != "" {
		c.server.agent.Events.Grow()
	}
}

// values are the names in the path, in order.
func (r route) values() (names []string) {
	for _, s := range r.segments() {
		if strings.HasPrefix(s, "{") {
			names = append(names, strings.Trim(s, "{}"))
		}
	}
	return names
}

// auditKinds are the audit events that changes leave, sorted.
func auditKinds() []string {
	kinds := append(slices.Collect(maps.Values(audited)), updateBrought, updateHurried)
	for _, of := range madeEvents {
		kinds = append(kinds, of.begun, of.taken)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
