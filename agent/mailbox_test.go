package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/mail"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/problem"
)

func TestAdminsAreTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "never", mailtest.Options{Pipe: true})
		r.run()
		if err := mailAdmins(t.Context(), r.Agent, org, "webhook failing", "it fails\n"); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		all := r.relay.Letters()
		if len(all) != 1 || all[0].To != "ada@example.com" || !strings.Contains(all[0].Text, "Subject: webhook failing") || strings.Contains(all[0].Text, "Date:") {
			t.Errorf("letters %+v", all)
		}
	})
}

// TestNoCodeWithAFullQueue refuses everybody alike while the letters of others
// fill the queue.
func TestNoCodeWithAFullQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		r.relay.Close()
		r.run()
		r.request(t, "ada@example.com")
		for i := range mail.MaxLetters - 1 {
			if err := mailAdmins(t.Context(), r.Agent, "", fmt.Sprint("notice ", i), "text\n"); err != nil {
				t.Fatal(err)
			}
		}
		if e := device.AsError(mailAdmins(t.Context(), r.Agent, "", "one more", "")); e.Code != problem.Unavailable {
			t.Errorf("one too many: %v", e)
		}
		for _, email := range []string{"mel@example.com", "bob@example.com"} {
			if e := device.AsError(r.Access.RequestOTP(t.Context(), email, network)); e.Code != problem.Unavailable {
				t.Errorf("a code with a full queue: %v", e)
			}
		}
		r.request(t, "ada@example.com") // takes the place of the first
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
		if _, _, err := r.Access.VerifyOTP(t.Context(), "ada@example.com", code, network, ""); err != nil {
			t.Errorf("the last code: %v", err)
		}
	})
}
