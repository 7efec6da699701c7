package api

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent"
	"roomgate/cloud"
	"roomgate/store"
)

// guarded says of each table of the database why no secret lies in it in clear.
var guarded = map[string]string{
	"log": "", "log-cursors": "", "cursors": "", "clock": "", "organizations": "", "readings": "", "device-settings": "",
	"commands": "", "commands-under-way": "", "recent-commands": "", "refused-ids": "", "open-commands": "", "own-command-ages": "", "caller-command-ages": "", "command-ages": "", "bookings": "", "messages": "topics sealed",
	"keypads": "", "rules": "topics sealed", "rule-runs": "", "open-rule-runs": "", "doubted-devices": "", "deliveries": "", "users": "", "store": "", "cloud-config": "sealed",
	"api-keys": "hashed", "accounts": "a keyed hash", "signing-keys": "only their ids", "ended-sessions": "only their ids", "edge-devices": "hashed", "unlock-codes": "hashed",
	"plans": "calendars sealed, feeds hashed", "additions": "sealed", "gateway-claim": "sealed", "cloud-certificate": "sealed", "mails": "sealed", "webhooks": "sealed",
	"door-keys": "only public keys", "door-counters": "", "message-parts": "", "message-part-data": "sealed",
}

// TestNoSecretInTheDatabase gives the building one of every secret that it
// stores, and looks for them in the bytes of its file, in what "store read"
// shows, and in the log. What a support bundle must hide of them, it knows.
func TestNoSecretInTheDatabase(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		secrets := b.everySecret(t)
		synctest.Wait()
		file, err := os.ReadFile(filepath.Join(b.dir, agent.Database))
		if err != nil {
			t.Fatal(err)
		}
		aside := filepath.Join(t.TempDir(), "copy")
		if err := os.WriteFile(aside, file, 0o600); err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		_, err = store.ReadAside(t.Context(), aside, store.Options{}, func(r store.StoredRow) error {
			_, err := fmt.Fprintf(&shown, "%s %s\n", r.Key, agent.ShowStored(r.Bucket, r.Value))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for what, secret := range secrets {
			for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret))} {
				if bytes.Contains(file, []byte(form)) {
					t.Errorf("%s: %q is in the database", what, form)
				}
				if strings.Contains(shown.String()+b.log.String(), form) {
					t.Errorf("%s: %q is shown or in the log", what, form)
				}
			}
		}
		if !bytes.Contains(file, []byte("nothing secret")) {
			t.Error("the search finds nothing at all")
		}
		known, err := b.agent.Support()
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"calendar", "calendar of the cloud", "webhook", "rotated webhook", "address of a webhook", "camera", "update of the cloud", "topic of a user of the cloud", "topic of a device", "topic of a rule"} {
			if !strings.Contains(strings.Join(known.Private, "\n"), secrets[what]) {
				t.Errorf("a support bundle would show the %s", what)
			}
		}
		for _, table := range known.Tables {
			if _, ok := guarded[table.Name[strings.Index(table.Name, ":")+1:]]; !ok {
				t.Errorf("the table %s is new: say in guarded how its secrets are kept, and make one in everySecret", table.Name)
			}
		}
	}, tenants)
}

// everySecret lets the building store one secret of each kind.
func (b *building) everySecret(t *testing.T) map[string]string {
	made := func(method, path, body, field string) string {
		got := b.ask(method, path, body)
		_, rest, ok := strings.Cut(got.body, `"`+field+`":"`)
		secret, _, _ := strings.Cut(rest, `"`)
		if got.StatusCode/100 != 2 || field != "" && (!ok || secret == "") {
			t.Fatalf("%s %s: %d %s", method, path, got.StatusCode, got.body)
		}
		return secret
	}
	_, org := b.orgKey(t, auroraOrg, "devices:read")
	hook := made("POST", "/api/v1/webhooks", `{"organization_id":"`+auroraOrg+`","url":"https://hook.example/CANARY-first-path?token=CANARY-first-token","events":["booking.created"],"secret":"CANARY-of-a-webhook"}`, "id")
	made("PATCH", "/api/v1/webhooks/"+hook, `{"url":"https://hook.example/CANARY-hook-path?token=CANARY-hook-token"}`, "")
	made("POST", "/devices", `{"meeting_space_id":"`+borealis+`","id":"spare-camera","device_type":"camera","driver":"camera-http","options":{"url":"http://192.0.2.66/CANARY-camera-path.jpg?token=CANARY-camera-token"}}`, "id")
	made("POST", "/meetingspace/"+aurora+"/calendar", `{"url":"https://me:CANARY-password@calendar.example/CANARY-path.ics?token=CANARY-token"}`, "")
	made("PUT", "/meetingspace/"+aurora+"/unlock-codes", `{"name":"cleaning","code":"9078563412"}`, "")
	made("POST", "/messages", `{"to":{"topic":"CANARY-topic-of-a-device"},"title":"Tea","body":"is ready"}`, "")
	made("POST", "/rules", `{"name":"tea","trigger":{"event":"temperatureAlert"},"actions":[{"to":{"topic":"CANARY-topic-of-a-rule"},"message":"is ready"}]}`, "")
	made("POST", "/bookings", `{"meeting_space_id":"`+aurora+`","title":"nothing secret","start_time":"2000-01-02T09:00:00Z","end_time":"2000-01-02T10:00:00Z"}`, "")
	all := map[string]string{
		"system key": systemKey, "organization key": strings.TrimPrefix(org, "X-Org-Api-Key: "), "key of a display": b.edgeKey(aurora),
		"webhook": "CANARY-of-a-webhook", "rotated webhook": made("POST", "/api/v1/webhooks/"+hook+"/rotate-secret", `{}`, "secret"),
		"calendar": "CANARY-password", "path of a calendar": "CANARY-path", "token of a calendar": "CANARY-token",
		"first path of a webhook": "CANARY-first-path", "first token of a webhook": "CANARY-first-token", "address of a webhook": "CANARY-hook-path",
		"token of a webhook": "CANARY-hook-token", "camera": "CANARY-camera-path", "token of a camera": "CANARY-camera-token",
		"update of the cloud": "CANARY-update-path", "token of an update": "CANARY-update-token", "topic of a user of the cloud": "CANARY-topic",
		"feed": made("POST", "/meetingspace/"+borealis+"/calendar/feed", `{}`, "token"), "unlock code": "9078563412",
		"token of a user": b.signIn(t, "ada@example.com"), "one-time password": b.code(t, "ann@example.com"),
		"topic of a device": "CANARY-topic-of-a-device", "topic of a rule": "CANARY-topic-of-a-rule",
		"calendar of the cloud": "CANARY-cloud-calendar", "unlock code of the cloud": "8135279046",
	}
	e := cloud.Envelope{ID: "c1", Source: "backend", Type: "roomgate.config", Time: time.Now(), Data: json.RawMessage(`{"revision":1,
		"update":{"url":"https://updates.example/CANARY-update-path?token=CANARY-update-token"},
		"users":[{"id":"cloudy","email":"cloudy@example.com","name":"Cloudy","push_topic":"CANARY-topic"}],
		"spaces":[{"id":"7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a0c","name":"Corona","timezone":"UTC","calendar":{"url":"https://calendar.example/CANARY-cloud-calendar"}}],
		"unlock_codes":[{"meeting_space_id":"` + aurora + `","name":"guard","code":"8135279046"}]}`)}
	payload, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.agent.Cloud.Receive(t.Context(), cloud.Message{Topic: cloud.Topics{Gateway: "test"}.Down("config"), Payload: payload, Retained: true}); err != nil {
		t.Fatal(err)
	}
	if b.agent.Bookings.Room("7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a0c") == nil {
		t.Fatal("the configuration of the cloud was not taken")
	}
	return all
}

// TestSecretsOfTheVersionBefore: what an earlier version has stored in clear is
// sealed by the first start, and goes on being known.
func TestSecretsOfTheVersionBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 23, 1, 13, 0, 0, time.UTC)))
		old := filepath.Join(t.TempDir(), "old")
		unpack(t, filepath.Join(before, "roomgate.db.gz"), old)
		for _, plain := range []string{"calendar.demo", "receiver.demo/rooms"} {
			if in := rowsWith(t, old, plain); len(in) == 0 {
				t.Fatal("the search finds nothing at all")
			}
		}
		b := openBefore(t)
		linked := b.net.do(t, "GET", "/meetingspace/"+borealis+"/calendar", "X-API-Key: upgrade-test-system-key")
		if !strings.Contains(linked.body, `"url":"https://calendar.demo/..."`) {
			t.Errorf("the calendar of then: %d %s", linked.StatusCode, linked.body)
		}
		b.end()
		for _, plain := range []string{"calendar.demo", "receiver.demo/rooms"} {
			if in := rowsWith(t, filepath.Join(b.dir, agent.Database), plain); len(in) > 0 {
				t.Errorf("the address of %s is in clear in %q", plain, in)
			}
		}
	})
}

// rowsWith are the rows of a database that nobody has open in which a word is.
func rowsWith(t *testing.T, path, word string) (in []string) {
	t.Helper()
	_, err := store.ReadAside(t.Context(), path, store.Options{}, func(r store.StoredRow) error {
		if bytes.Contains(r.Value, []byte(word)) {
			in = append(in, r.Bucket+" "+r.Key)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
