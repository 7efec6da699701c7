package agent

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/cloudkey"
	"roomgate/cloud"
)

// signingKey is a key of the cloud by its name.
func signingKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func publicKey(name string, may ...string) cloudkey.Key {
	return cloudkey.Key{Public: signingKey(name).Public().(ed25519.PublicKey), May: may}
}

// hold makes those the keys of the building.
func (r *rig) hold(all ...cloudkey.Key) {
	r.t.Helper()
	s, err := r.signers.Stage(all)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.Events.Commit(r.t.Context(), s); err != nil {
		r.t.Fatal(err)
	}
}

// signed is a signed message to be changed before it is sent.
type signed struct {
	level, id, data string
	subject         string // empty: the right one
	counter         uint64
	at              time.Time // zero: now
	by              string    // the key's name; empty: cloud
	retained        bool
	spoil           func([]byte) []byte // the payload
}

// openDoor opens the lock within half a minute, by a counter.
func openDoor(id string, counter uint64) signed {
	return signed{level: "command", id: id, counter: counter,
		data: commandTo("lock", "open", `"expires_at":"`+time.Now().Add(30*time.Second).UTC().Format(time.RFC3339)+`"`)}
}

// payload is the message as it travels.
func (s signed) payload(topic string) []byte {
	if s.at.IsZero() {
		s.at = time.Now()
	}
	if s.subject == "" {
		s.subject = topic
	}
	if s.by == "" {
		s.by = "cloud"
	}
	body, err := cloud.Envelope{ID: s.id, Source: "backend", Type: cloud.TypeOf(s.level), Subject: s.subject, Time: s.at.UTC(),
		Counter: s.counter, Data: json.RawMessage(s.data)}.Encode()
	if err != nil {
		panic(err)
	}
	payload := cloud.Sign(signingKey(s.by), body)
	if s.spoil != nil {
		payload = s.spoil(payload)
	}
	return payload
}

// bring hands a signed message in, and waits for what comes of it.
func (r *rig) bring(s signed) {
	r.t.Helper()
	topic := r.topics().Down(s.level)
	r.bringRaw(s.payload(topic), s.retained)
}

func (r *rig) bringRaw(payload []byte, retained bool) {
	r.t.Helper()
	m := cloud.Message{Topic: r.topics().Down("command"), Payload: payload, QoS: 1, Retained: retained}
	if strings.Contains(string(payload), "payloadType") { // else it is a command
		if s, err := cloud.ReadSigned(payload); err == nil && strings.Contains(string(s.Body), `"roomgate.config"`) {
			m.Topic = r.topics().Down("config")
		}
	}
	if err := r.Cloud.Receive(r.t.Context(), m); err != nil {
		r.t.Fatalf("it is not acknowledged: %v", err)
	}
	r.wait(time.Second)
}

// outcome is the last receipt of an id, as "rejected forbidden keyid".
func (r *rig) outcome(id string) string {
	r.t.Helper()
	all := r.receipts(id)
	if len(all) == 0 {
		return "none"
	}
	last := all[len(all)-1]
	field, _, _ := strings.Cut(last.Reason, " ")
	return strings.TrimSpace(fmt.Sprint(last.State, " ", last.Code, " ", field))
}

// opened is how often the door was opened.
func (r *rig) opened() int { return len(r.bench["door-1"].effects()) }

// startGuarded starts the building with the lock, which holds the key cloud.
func startGuarded(t *testing.T, yaml string) *rig {
	t.Helper()
	r := startDoor(t, yaml)
	r.hold(publicKey("cloud"))
	return r
}
