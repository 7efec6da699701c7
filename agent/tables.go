package agent

import (
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/claim"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/cloudkey"
	"roomgate/agent/cloudpart"
	"roomgate/agent/device"
	"roomgate/agent/device/refusal"
	"roomgate/agent/edge"
	"roomgate/agent/enrol"
	"roomgate/agent/eventlog"
	"roomgate/agent/mail"
	"roomgate/agent/message/book"
	"roomgate/agent/rule/doubt"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/timekeeper"
	"roomgate/agent/unlock"
	"roomgate/agent/webhook"
)

// Schema is the version of everything below. Raising it needs a migration.
const Schema = 1

// The whole of what the building stores, on one screen: table, package, rows.
//
//	"log", "cursors" eventlog what became true, and how far it was followed
//	"api-keys"       access   the API keys by id, hashed
//	"organizations"  access   by id
//	"users"          access   what was decided here about users, by id
//	"accounts"       access   how addresses stand with their one-time passwords, by a keyed hash
//	"signing-keys"   access   the ids of the keys that sign tokens, newest last
//	"ended-sessions" access   when sessions were ended, by the id of their token, until it expires
//	"readings"       device   the last known state by device id, for a restart
//	"device-settings" device  what was set of a device at run time, by its id
//	"commands"       device   each command and its receipt by id
//	"commands-under-way", "recent-commands" device the commands under way; the last that are over
//	"refused-ids"    refusal  what of the cloud this process has refused, oldest first
//	"open-commands"  device   the ids of those under way, of an earlier version or for one
//	"own-command-ages", "caller-command-ages", "command-ages" device the ids of commands by who chose them, oldest first, to forget them
//	"bookings"       schedule every booking by id
//	"plans"          schedule what is set for a space at run time, by its id; the address of its calendar sealed
//	"additions"      site     the spaces and devices that were made or changed at run time, by kind and id, sealed
//	"gateway-claim"  claim    the organization that owns the gateway, in one row
//	"cloud-certificate" enrol the certificate that the gateway shows to its cloud, and the next one, in one row, sealed
//	"door-keys"      cloudkey the keys that the cloud signs door commands with, in one row
//	"door-counters"  cloudkey which counters a key has used, by its id
//	"cloud-config"   cloudconfig which keys, codes, rules and users are the cloud's, in one row
//	"message-parts", "message-part-data" cloudpart what has come of a message in parts, sealed
//	"edge-devices"   edge     the boards and displays in the rooms, by id
//	"mails"          mail     the letters that wait for the relay, by place
//	"messages"       book     what was sent to mobile devices, by id
//	"unlock-codes"   unlock   the codes of doors by space and id, hashed
//	"keypads"        unlock   the wrong codes that were spent at a lock, by its id
//	"rules", "rule-runs" engine the rules by id; the last runs of each, by its id and a slot that is used again
//	"open-rule-runs" engine   the keys of runs whose commands may be under way
//	"doubted-devices" doubt which parts of devices an unsigned word of the cloud has moved, by space, type and name
//	"webhooks"       webhook  by id, with their addresses and secrets, sealed
//	"deliveries"     webhook  what webhooks were and will be notified of, by webhook and delivery id
//	"clock"          timekeeper what the clock has to know after a restart, in one row

// buckets names all of the tables and queues above.
func buckets() []string {
	return slices.Concat(
		eventlog.Buckets(),
		access.Buckets(),
		claim.Buckets(),
		enrol.Buckets(),
		edge.Buckets(),
		cloudkey.Buckets(),
		device.Buckets(),
		refusal.Buckets(),
		timekeeper.Buckets(),
		schedule.Buckets(),
		cloudconfig.Buckets(),
		cloudpart.Buckets(),
		site.Buckets(),
		unlock.Buckets(),
		webhook.Buckets(),
		mail.Buckets(),
		book.Buckets(),
		engine.Buckets(),
		doubt.Buckets(),
	)
}
