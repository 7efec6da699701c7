package agent

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"roomgate/agent/mail/mailtest"
	"roomgate/store"
)

func TestAdminsAreTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "never", mailtest.Options{Pipe: true})
		r.run()
		if err := r.MailAdmins(t.Context(), org, "webhook failing", "it fails\n"); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		all := r.relay.Letters()
		if len(all) != 1 || all[0].To != "ada@example.com" || !strings.Contains(all[0].Text, "Subject: webhook failing") || strings.Contains(all[0].Text, "Date:") {
			t.Errorf("letters %+v", all)
		}
	})
}

// TestRelayIsAway queues while nobody takes letters: the queue is bounded, the
// relay is not run down, and what is still of use arrives in the end.
func TestRelayIsAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRelayRig(t, dir, "always", mailtest.Options{Pipe: true})
		r.relay.Close()
		r.run()
		r.request(t, "ada@example.com")
		for i := range maxLetters - 1 {
			if err := r.MailAdmins(t.Context(), "", fmt.Sprint("notice ", i), "text\n"); err != nil {
				t.Fatal(err)
			}
		}
		if e := AsError(r.MailAdmins(t.Context(), "", "one more", "")); e.Code != Unavailable {
			t.Errorf("one too many: %v", e)
		}
		for _, email := range []string{"mel@example.com", "bob@example.com"} {
			if e := AsError(r.Access.RequestOTP(t.Context(), email, network)); e.Code != Unavailable {
				t.Errorf("a code with a full queue: %v", e)
			}
		}
		r.request(t, "ada@example.com") // takes the place of the first
		began := time.Now()
		r.wait(time.Hour)
		if n := strings.Count(r.log.String(), "takes no letters"); n != 1 {
			t.Errorf("said %d times that the relay is away", n)
		}
		if n := strings.Count(r.log.String(), "waited too long"); n != 1 {
			t.Errorf("%d letters waited too long, want the code: after %v\n%s", n, time.Since(began), r.log)
		}
		r.stop()
		r = openRelayRig(t, dir, "always", mailtest.Options{Pipe: true})
		r.run()
		r.wait(time.Minute)
		all := r.relay.Letters()
		if len(all) != maxLetters-1 {
			t.Fatalf("%d letters", len(all))
		}
		for i, l := range all {
			if !strings.Contains(l.Text, fmt.Sprintf("Subject: notice %d\r\n", i)) {
				t.Fatalf("letter %d: %s", i, l.Text)
			}
		}
		wantNoLetters(t, r.rig)
	})
}

// TestRefusedLettersDoNotHoldTheOthers has one address that the relay never
// takes, and one that it puts off.
func TestRefusedLettersDoNotHoldTheOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true, Script: func(to string, _ int) error {
			switch to {
			case "ada@example.com":
				return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "<ada@example.com> is unknown"}
			case "off@example.com":
				return &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 1}, Message: "later"}
			}
			return nil
		}})
		people := append(r.config.Users[:0:0], r.config.Users...)
		people[2].Enabled = true
		if err := r.Events.Commit(t.Context(), r.Access.StagePeople(people)); err != nil {
			t.Fatal(err)
		}
		r.run()
		for _, email := range []string{"ada@example.com", "off@example.com", "mel@example.com"} {
			r.request(t, email)
		}
		r.wait(time.Second)
		if all := r.relay.Letters(); len(all) != 1 || all[0].To != "mel@example.com" {
			t.Errorf("letters %+v", all)
		}
		r.wait(20 * time.Minute)
		wantNoLetters(t, r.rig)
		if strings.Contains(r.log.String(), "ada@example.com") {
			t.Errorf("an address is in the log: %s", r.log)
		}
	})
}

// TestNewCodeTakesThePlaceOfTheOld asks for codes while the relay is slow: of
// those that wait only the last is sent, for it has made the others void.
func TestNewCodeTakesThePlaceOfTheOld(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true, Script: func(string, int) error {
			time.Sleep(time.Second)
			return nil
		}})
		r.run()
		for range 5 {
			r.request(t, "ada@example.com")
			r.wait(time.Millisecond) // the first is on its way
		}
		code := r.code(t, 2)
		r.wait(time.Minute)
		if n := len(r.relay.Letters()); n != 2 {
			t.Errorf("%d letters, want the first and the last", n)
		}
		wantNoLetters(t, r.rig)
		first := sixDigits.FindStringSubmatch(r.relay.Letters()[0].Text)[1]
		if first != code {
			r.wantRefused(t, "a code that was replaced", "ada@example.com", first)
		}
		if _, _, err := r.Access.VerifyOTP(t.Context(), "ada@example.com", code, network); err != nil {
			t.Errorf("the last code: %v", err)
		}
	})
}

// TestStrippedEncryption is somebody between us and the relay who hides that
// it can encrypt.
func TestStrippedEncryption(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true, Bare: true, Password: "hunter2"})
		r.run()
		r.request(t, "ada@example.com")
		r.wait(9 * time.Minute)
		if n := len(r.relay.Letters()); n != 0 || !strings.Contains(r.log.String(), "offers no encryption") || strings.Contains(r.log.String(), "hunter2") {
			t.Errorf("%d letters in clear: %s", n, r.log)
		}
		r.wait(2 * time.Minute)
		wantNoLetters(t, r.rig)
	})
}

// TestLetterOfAnotherSecret finds letters that were sealed under a device
// secret that is gone.
func TestLetterOfAnotherSecret(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			return mails.Put(tx, "x", storedMail{ID: "x", Posted: r.moment(), Life: time.Hour, Sealed: []byte("not ours")})
		})
		if err != nil {
			t.Fatal(err)
		}
		r.run()
		if err := r.Access.RequestOTP(t.Context(), "ada@example.com", netip.Prefix{}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		if n := len(r.relay.Letters()); n != 1 {
			t.Errorf("%d letters: %s", n, r.log)
		}
		wantNoLetters(t, r.rig)
	})
}
