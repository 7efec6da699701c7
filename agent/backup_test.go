package agent

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/backup"
	"roomgate/agent/cloudlink"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/message"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// unpack puts the files of a backup into a new folder.
func unpack(t *testing.T, raw []byte) (string, *backup.Opened) {
	t.Helper()
	dir := t.TempDir()
	o, err := backup.Read(t.Context(), bytes.NewReader(raw), Schema, dir, func(int64, int64) {})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, SecretFile), o.Small[SecretFile], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, o
}

// rising wants that progress never goes back nor past its end, and that it gets
// there.
func rising(t *testing.T) backup.Progress {
	t.Helper()
	var last, end int64
	t.Cleanup(func() {
		if last != end || end == 0 {
			t.Errorf("progress ends at %d of %d", last, end)
		}
	})
	return func(done, total int64) {
		if done < last || done > total {
			t.Errorf("progress goes from %d of %d to %d of %d", last, end, done, total)
		}
		last, end = done, total
	}
}

// event writes something into the log and returns its number.
func (r *relayRig) event(t *testing.T) (seq uint64) {
	t.Helper()
	err := r.db.Update(t.Context(), func(tx *store.Tx) (err error) {
		seq, err = r.Events.PushAt(tx, eventlog.Row{Type: "event.test", Data: []byte("{}")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// On other hardware keys open, sealed letters are sent, tokens have ended, and
// the cloud sees numbers that it has not seen.
func TestBackupOnOtherHardware(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		_, secret, err := r.Access.CreateOrgKey(t.Context(), org, "app", []string{"bookings:read"}, time.Time{})
		if err := errors.Join(err, r.Access.KeyShown(t.Context())); err != nil {
			t.Fatal(err)
		}
		p, _ := r.AuthenticateKey(secret)
		bought, _, err := r.Access.Token(p, nil, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		signedIn := r.token(t, "ada")
		if err := r.Access.RequestOTP(t.Context(), "mel@example.com", network); err != nil { // the letter waits, for nobody runs
			t.Fatal(err)
		}
		last := r.event(t)
		text := []byte("gateway: {id: one}\nhttp: {tls: {certificate: /c.pem, key: /k.pem}}\n")
		var raw bytes.Buffer
		if err := r.Backup(t.Context(), &raw, backup.Config{Text: text}, rising(t)); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}

		dir, o := unpack(t, raw.Bytes())
		if o.Schema != Schema || o.GatewayID != r.options.Config.Gateway.ID || len(o.Named) != 2 || string(o.Small[backup.ConfigName]) != string(text) {
			t.Errorf("%+v", o.Manifest)
		}
		key, err := Rekey(t.Context(), dir, NewLife{})
		if err != nil || key != "" {
			t.Fatalf("%q, %v", key, err)
		}
		if files, _ := os.ReadDir(dir); len(files) != 2 {
			t.Errorf("left beside the database: %v", files)
		}
		other := openRelayRig(t, dir, "always", mailtest.Options{Pipe: true})
		other.run()
		if other.Access.NewKey() != "" {
			t.Error("another system key was made")
		}
		if _, ok := other.AuthenticateKey(secret); !ok {
			t.Error("a key does not open any more")
		}
		for _, token := range []string{bought, signedIn} {
			if _, err := other.Access.AuthenticateToken(token); device.AsError(err) == nil {
				t.Error("a token of the old gateway opens the new one")
			}
		}
		if letter := other.code(t, 1); letter == "" {
			t.Error("a sealed letter is lost")
		}
		if now := other.event(t); now < last+1<<24 {
			t.Errorf("numbers go on at %d after %d", now, last)
		}
	})
}

// A later restore of the same backup goes on above all that the first one can
// have given out, and a new system key is the only one that opens.
func TestRekeyAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		var raw bytes.Buffer
		if err := r.Backup(t.Context(), &raw, backup.Config{Text: []byte("gateway: {id: one}\n")}, rising(t)); err != nil {
			t.Fatal(err)
		}
		old := r.Access.NewKey()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		var before uint64
		for range 2 {
			dir, _ := unpack(t, raw.Bytes())
			key, err := Rekey(t.Context(), dir, NewLife{NewKey: true})
			if err != nil || auth.Mistyped(key) {
				t.Fatal(err)
			}
			other := openRelayRig(t, dir, "always", mailtest.Options{Pipe: true})
			if _, ok := other.AuthenticateKey(key); !ok {
				t.Error("the new system key does not open")
			}
			if _, ok := other.AuthenticateKey(old); ok && old != "" {
				t.Error("the old system key opens")
			}
			now := other.event(t)
			if now < before+100*sequencesPerSecond {
				t.Errorf("numbers go on at %d after %d", now, before)
			}
			before = now
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Second)
		}
	})
}

// What is damaged is neither backed up nor restored as an empty building.
func TestBackupOfDamage(t *testing.T) {
	dir := t.TempDir()
	r := openRelayRig(t, dir, "always", mailtest.Options{Pipe: true})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	told := rising(t)
	stopped := func() error {
		raw.Reset()
		return backup.WriteStopped(t.Context(), &raw, config.Gateway{ID: "one"}, dir, backup.Config{Text: []byte("gateway: {id: one}\n")}, "test", nil, told)
	}
	if err := stopped(); err != nil {
		t.Fatal(err)
	}
	if _, o := unpack(t, raw.Bytes()); o.GatewayID != "one" {
		t.Errorf("%+v", o.Manifest)
	}
	path := filepath.Join(dir, Database)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(file[2*4096:], make([]byte, len(file)-2*4096))
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stopped(); !errors.Is(err, store.ErrDamaged) || raw.Len() > 0 {
		t.Errorf("backed up: %v", err)
	}
	if _, err := Rekey(t.Context(), dir, NewLife{}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("restored: %v", err)
	}
}

// Another gateway that is made of a backup sends nothing that the old one will,
// and hears the cloud from the beginning.
func TestBackupAsAnother(t *testing.T) {
	claimed := store.NewTable[map[string]string]("gateway-claim")
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		if err := r.Access.RequestOTP(t.Context(), "mel@example.com", network); err != nil { // the letter waits, for nobody runs
			t.Fatal(err)
		}
		r.event(t)
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			return errors.Join(
				deliveryRows.Put(tx, "w/1", webhook.Delivery{ID: "1", WebhookID: "w", State: webhook.Pending}),
				deliveryRows.Put(tx, "w/2", webhook.Delivery{ID: "2", WebhookID: "w", State: webhook.Delivered}),
				storedMessages.Put(tx, "m", storedMessage{Push: message.Channel{State: message.Queued}}),
				storedMessages.Put(tx, "n", storedMessage{Push: message.Channel{State: message.Sent}}),
				cloudConfigs.Put(tx, "current", map[string]any{"revision": 7, "message": "m7", "signed": "s", "signed_revision": 7, "keys": []string{"k"}, "update": "https://example.org/x"}),
				claimed.Put(tx, "gateway-claim", map[string]string{"organization": "Acme"}),
				planRows.Put(tx, "p", map[string]any{"revision": 9}))
		})
		var raw bytes.Buffer
		if err = errors.Join(err, r.Backup(t.Context(), &raw, backup.Config{Text: []byte("gateway: {id: one}\n")}, rising(t)), r.Close()); err != nil {
			t.Fatal(err)
		}
		for _, another := range []bool{false, true} {
			dir, _ := unpack(t, raw.Bytes())
			if _, err := Rekey(t.Context(), dir, NewLife{Another: another}); err != nil {
				t.Fatal(err)
			}
			db, _, err := store.Open(t.Context(), filepath.Join(dir, Database), store.Options{Schema: Schema})
			if err != nil {
				t.Fatal(err)
			}
			err = db.View(func(tx *store.Tx) error {
				c, _ := cloudConfigs.Get(tx, "current")
				p, _ := planRows.Get(tx, "p")
				m, _ := storedMessages.Get(tx, "m")
				n, _ := storedMessages.Get(tx, "n")
				acked, _, _ := cloudlink.AckedCursor.Get(tx)
				belongs := claimed.Len(tx) == 1
				waits := belongs && storedLetters.Len(tx) == 1 && deliveryRows.Len(tx) == 2 && m.Push.State == message.Queued &&
					c["revision"] == 7.0 && c["signed_revision"] == 7.0 && p["revision"] == 9.0 && acked < eventlog.End(tx)
				forgot := !belongs && storedLetters.Len(tx) == 0 && deliveryRows.Len(tx) == 1 && m.Push.State == message.Expired && c["revision"] == 0.0 && c["signed"] == nil && c["signed_revision"] == nil && c["update"] == nil &&
					len(c["keys"].([]any)) == 1 && p["revision"] == nil && acked == eventlog.End(tx)
				if another != forgot || another == waits || n.Push.State != message.Sent {
					t.Errorf("another %v: %d letters, %d deliveries, %+v, %+v, %+v, acked %d of %d", another,
						storedLetters.Len(tx), deliveryRows.Len(tx), m.Push, c, p, acked, eventlog.End(tx))
				}
				return nil
			})
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
