package cloud

import (
	"crypto/rand"
	"strconv"
	"strings"
)

// Version is that of the contract with the cloud, a level of every topic.
const Version = "1"

// topicRoot begins every topic between gateways and the cloud.
const topicRoot = "roomgate/v" + Version + "/"

// typeRoot begins the type of every envelope.
const typeRoot = "roomgate."

// The levels on which a gateway sends.
const (
	LevelPresence  = "presence"
	LevelHeartbeat = "heartbeat"
	LevelState     = "state"
	LevelEvent     = "event"
	LevelBooking   = "booking"
	LevelReceipt   = "receipt"
	LevelMessage   = "message"
)

// The levels on which a gateway listens.
const (
	LevelCommand  = "command"
	LevelSchedule = "schedule"
	LevelConfig   = "config"
	LevelAck      = "ack"
	LevelReplay   = "replay"
	LevelClaim    = "claim"
)

// LevelEnrol is the level of both ways on which a gateway gets its certificate.
const LevelEnrol = "enrol"

// DownLevels are the levels on which a gateway listens, sorted.
func DownLevels() []string {
	return []string{LevelAck, LevelClaim, LevelCommand, LevelConfig, LevelEnrol, LevelReplay, LevelSchedule}
}

// Topics are the topics of one gateway. The gateway "+" makes filters that
// match every gateway.
type Topics struct {
	Gateway string
}

// Up is the topic on which the gateway sends: Up(LevelEvent), or with further
// levels Up(LevelState, meetingSpaceID).
func (t Topics) Up(level string, more ...string) string { return t.join("up", level, more) }

// Down is the topic on which the gateway listens.
func (t Topics) Down(level string, more ...string) string { return t.join("down", level, more) }

func (t Topics) join(way, level string, more []string) string {
	return strings.Join(append([]string{topicRoot + t.Gateway, way, level}, more...), "/")
}

// Parse splits a topic of this gateway: "roomgate/v1/g/up/state/s" is up,
// level "state", rest "s". It is false for a foreign topic, for another
// gateway's, and for one with an empty level; the gateway "+" accepts all.
func (t Topics) Parse(topic string) (up bool, level, rest string, ok bool) {
	gateway, up, level, rest, ok := ParseTopic(topic)
	if !ok || (t.Gateway != "+" && t.Gateway != gateway) {
		return false, "", "", false
	}
	return up, level, rest, true
}

// ParseTopic is Topics.Parse for whichever gateway the topic belongs to.
func ParseTopic(topic string) (gateway string, up bool, level, rest string, ok bool) {
	tail, ok := strings.CutPrefix(topic, topicRoot)
	if !ok || len(topic) > MaxTopic || strings.ContainsAny(tail, "+#\x00") {
		return "", false, "", "", false
	}
	parts := strings.SplitN(tail, "/", 4)
	if len(parts) < 3 || parts[0] == "" || parts[2] == "" || (parts[1] != "up" && parts[1] != "down") {
		return "", false, "", "", false
	}
	if len(parts) == 4 {
		if rest = parts[3]; rest == "" {
			return "", false, "", "", false
		}
	}
	return parts[0], parts[1] == "up", parts[2], rest, true
}

// ValidGateway says whether an id can be a level of a topic, a client id and
// a user name at once: 1 to 64 letters, digits, '-', '_' and '.'.
func ValidGateway(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, r := range id {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", r) {
			return false
		}
	}
	return true
}

// TypeOf is the envelope type that belongs to a topic level: "roomgate.event".
func TypeOf(level string) string { return typeRoot + level }

// TypeFits says whether an envelope's type belongs to a topic level. Events
// carry their name behind it: "roomgate.event.doorForced".
func TypeFits(level, envelopeType string) bool {
	want := TypeOf(level)
	return envelopeType == want || (level == LevelEvent && strings.HasPrefix(envelopeType, want+"."))
}

// PartTopic is the topic of a part of a configuration, from 1. Each has its own, so that
// the broker keeps all of them.
func (t Topics) PartTopic(number int) string {
	if number == 1 {
		return t.Down(LevelConfig)
	}
	return t.Down("config-" + strconv.Itoa(number))
}

// PartLevel is the level whose parts come on a level: "config" for "config-2" up to
// "config-128", else the level itself.
func PartLevel(level string) string {
	number, ok := strings.CutPrefix(level, "config-")
	if n, err := strconv.Atoi(number); !ok || err != nil || n < 2 || n > MaxParts || strconv.Itoa(n) != number {
		return level
	}
	return LevelConfig
}

// ClientID names the session of a gateway at the broker. Some brokers, as NATS, take none
// with a dot.
func ClientID(gateway string) string { return "roomgate-" + strings.ReplaceAll(gateway, ".", "--") }

// TrialID names a log-in that is tried for a gateway. It is the session of no gateway, as those
// begin with roomgate-, and of no other trial.
func TrialID(gateway string) string {
	return "roomgate_" + strings.ReplaceAll(gateway, ".", "--") + "_" + strings.ToLower(rand.Text()[:8])
}
