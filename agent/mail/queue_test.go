package mail

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"roomgate/agent/auth"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/problem"
	"roomgate/store"
)

// TestRelayIsAway queues while nobody takes letters: the queue is bounded, the
// relay is not run down, and what is still of use arrives in the end.
func TestRelayIsAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, dir, mailtest.Options{Pipe: true})
		r.relay.Close()
		r.run()
		r.code("ada", "first")
		for i := range MaxLetters - 1 {
			r.post(fmt.Sprint("notice ", i))
		}
		full := problem.As(r.Post(t.Context(), Letter{To: "ada@example.com", Subject: "one more"}))
		if full == nil || full.Code != problem.Unavailable {
			t.Errorf("one too many: %v", full)
		}
		if e := problem.As(r.putCode("mel", "123456", false)); e == nil || e.Code != problem.Unavailable {
			t.Errorf("a code with a full queue: %v", e)
		}
		r.code("ada", "second") // takes the place of the first
		r.wait(time.Hour)
		if n := strings.Count(r.text.String(), "takes no letters"); n != 1 {
			t.Errorf("said %d times that the relay is away", n)
		}
		if n := strings.Count(r.text.String(), "waited too long"); n != 1 {
			t.Errorf("%d letters waited too long, want the code\n%s", n, r.text)
		}
		if s := r.Status(); s.Waiting != MaxLetters-1 || s.Oldest < time.Hour || !strings.Contains(s.Failing, "mail relay: connect") || !s.Configured {
			t.Errorf("%+v", s)
		}
		r.stop()
		r = openRig(t, dir, mailtest.Options{Pipe: true})
		r.run()
		r.wait(time.Minute)
		all := r.relay.Letters()
		if len(all) != MaxLetters-1 {
			t.Fatalf("%d letters", len(all))
		}
		for i, l := range all {
			if !strings.Contains(l.Text, fmt.Sprintf("Subject: notice %d\r\n", i)) {
				t.Fatalf("letter %d: %s", i, l.Text)
			}
		}
		r.wantEmpty()
	})
}

// TestAllLettersOrNone posts more letters than there is room for.
func TestAllLettersOrNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true})
		for i := range MaxLetters - 1 {
			r.post(fmt.Sprint("notice ", i))
		}
		two := []Letter{{To: "ada@example.com", Subject: "one"}, {To: "bob@example.com", Subject: "two"}}
		if err := r.Post(t.Context(), two...); problem.As(err) == nil || r.Status().Waiting != MaxLetters-1 {
			t.Errorf("%v, %d letters wait", err, r.Status().Waiting)
		}
		// Whoever is refused in a transaction of his own may go on with it.
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			if err := r.Put(tx, two...); problem.As(err) == nil {
				t.Errorf("two more are put: %v", err)
			}
			return r.Put(tx, two[0])
		})
		if err != nil || r.Status().Waiting != MaxLetters {
			t.Errorf("%v, %d letters wait", err, r.Status().Waiting)
		}
		if err := r.db.Update(t.Context(), Forget); err != nil {
			t.Fatal(err)
		}
		r.wantEmpty()
	})
}

// TestWithoutARelay takes no letters, and still forgets those from before.
func TestWithoutARelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true})
		r.post("from before")
		r.settings = Settings{Password: r.settings.Password}
		if e := problem.As(r.Post(t.Context(), Letter{To: "ada@example.com"})); e == nil || e.Code != problem.Unavailable || !strings.Contains(e.Message, "smtp.url") {
			t.Errorf("%v", e)
		}
		r.run()
		r.wait(letterLife - time.Minute)
		if s := r.Status(); s.Configured || s.Waiting != 1 {
			t.Errorf("%+v", s)
		}
		r.wait(2 * time.Minute)
		r.wantEmpty()
	})
}

// TestRefusedLettersDoNotHoldTheOthers has one address that the relay never
// takes, and one that it puts off.
func TestRefusedLettersDoNotHoldTheOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true, Script: func(to string, _ int) error {
			switch to {
			case "ada@example.com":
				return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "<ada@example.com> is unknown"}
			case "off@example.com":
				return &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 1}, Message: "later"}
			}
			return nil
		}})
		r.run()
		for _, name := range []string{"ada", "off", "mel"} {
			r.code(name, "123456")
		}
		r.wait(time.Second)
		if all := r.relay.Letters(); len(all) != 1 || all[0].To != "mel@example.com" {
			t.Errorf("letters %+v", all)
		}
		r.wait(20 * time.Minute)
		r.wantEmpty()
		if strings.Contains(r.text.String(), "ada@example.com") {
			t.Errorf("an address is in the log: %s", r.text)
		}
	})
}

// TestNewCodeTakesThePlaceOfTheOld queues codes while the relay is slow: of
// those that wait only the last is sent, for it has made the others void.
func TestNewCodeTakesThePlaceOfTheOld(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true, Script: func(string, int) error {
			time.Sleep(time.Second)
			return nil
		}})
		r.run()
		for i := range 5 {
			r.code("ada", fmt.Sprint("code ", i))
			r.wait(time.Millisecond) // the first is on its way
		}
		r.wait(time.Minute)
		all := r.relay.Letters()
		if len(all) != 2 || !strings.Contains(all[0].Text, "code 0") || !strings.Contains(all[1].Text, "code 4") {
			t.Errorf("%+v, want the first and the last", all)
		}
		r.wantEmpty()
	})
}

// TestDecoy is stored like any letter and sent to nobody.
func TestDecoy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true})
		if err := r.putCode("bob", "123456", true); err != nil {
			t.Fatal(err)
		}
		decoy := r.sealed("bob")
		if err := r.putCode("bob", "123456", false); err != nil {
			t.Fatal(err)
		}
		if real := r.sealed("bob"); real != decoy || decoy == 0 {
			t.Errorf("a decoy has %d bytes, a letter %d", decoy, real)
		}
		if err := r.putCode("bob", "123456", true); err != nil {
			t.Fatal(err)
		}
		r.run()
		r.wait(time.Second)
		if n := len(r.relay.Letters()); n != 0 {
			t.Errorf("%d letters", n)
		}
		r.wantEmpty()
	})
}

// TestStrippedEncryption is somebody between us and the relay who hides that
// it can encrypt.
func TestStrippedEncryption(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true, Bare: true, Password: "hunter2"})
		r.run()
		r.code("ada", "123456")
		r.wait(9 * time.Minute)
		if n := len(r.relay.Letters()); n != 0 || !strings.Contains(r.text.String(), "offers no encryption") || strings.Contains(r.text.String(), "hunter2") {
			t.Errorf("%d letters in clear: %s", n, r.text)
		}
		r.wait(2 * time.Minute)
		r.wantEmpty()
	})
}

// TestLetterOfAnotherSecret finds letters that were sealed under a device
// secret that is gone.
func TestLetterOfAnotherSecret(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true})
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			return mails.Put(tx, "x", storedMail{ID: "x", Posted: r.moment(), Life: time.Hour, Sealed: []byte("not ours")})
		})
		if err != nil {
			t.Fatal(err)
		}
		r.run()
		r.code("ada", "123456")
		r.wait(time.Second)
		if n := len(r.relay.Letters()); n != 1 {
			t.Errorf("%d letters: %s", n, r.text)
		}
		r.wantEmpty()
	})
}

// TestRelayNeedsItsFiles tells which setting is wrong, and sends what waits
// once it is right.
func TestRelayNeedsItsFiles(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true})
		good := r.settings
		missing := filepath.Join(t.TempDir(), "missing.pem")
		empty := filepath.Join(t.TempDir(), "empty.pem")
		if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
			t.Fatal(err)
		}
		for want, spoil := range map[string]func(s *Settings){
			"smtp.from is not a sender":                 func(s *Settings) { s.From = "Rooms" },
			"read smtp.ca_file: ":                       func(s *Settings) { s.CAFile = missing },
			"read smtp.ca_file: " + empty + " holds no": func(s *Settings) { s.CAFile = empty },
			"smtp.password_file: ":                      func(s *Settings) { s.Password = func() (string, error) { return "", os.ErrNotExist } },
		} {
			r.settings = good
			spoil(&r.settings)
			if _, err := r.Queue.relay(); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		r.settings = good
		r.post("at last")
		r.run()
		r.wait(time.Second)
		if all := r.relay.Letters(); len(all) != 1 || !strings.Contains(all[0].Text, "Date:") || !all[0].Encrypted {
			t.Errorf("letters %+v", all)
		}
	})
}

// TestUntrustedClockDatesNothing leaves the date to the relay.
func TestUntrustedClockDatesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, t.TempDir(), mailtest.Options{Pipe: true})
		trusted := r.moment
		r.moment = func() auth.Moment { m := trusted(); m.Trusted = false; return m }
		r.post("without a clock")
		r.run()
		r.wait(time.Second)
		if all := r.relay.Letters(); len(all) != 1 || strings.Contains(all[0].Text, "Date:") {
			t.Errorf("letters %+v", all)
		}
	})
}
