package auth

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"roomgate/agent/goldentest"
)

func TestParseEmail(t *testing.T) {
	for text, want := range map[string]string{
		" Ada@Example.COM ": "ada@example.com", "a.b+c@x-y.example": "a.b+c@x-y.example", "o'hara@example.com": "o'hara@example.com",
		"": "", "ada": "", "@": "", "a@": "", "@b": "", "a@b@c": "", "a b@c": "", "Ada <ada@example.com>": "", "<a@b>": "", `"a b"@c`: "",
		"a@b\r\nBcc: c@d": "", "a@b, c@d": "", "a(x)@b": "", "ä@b": "", "a@bü": "", "a..b@c": "", "a@[127.0.0.1]": "", "a\x00@b": "",
		strings.Repeat("a", 250) + "@b.cd": "",
	} {
		got, err := ParseEmail(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func FuzzParseEmail(f *testing.F) {
	f.Add("ada@example.com")
	f.Add("a@b\r\nBcc: c@d")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseEmail(text)
		if err != nil {
			return
		}
		again, err := ParseEmail(got)
		if err != nil {
			t.Fatalf("%q became %q, then %q, %v", text, got, again, err)
		}
		goldentest.Values(t, got, goldentest.Pairs{"again": {again, got},
			" \r\n<>,\x00": {strings.ContainsAny(got, " \r\n<>,\x00"), false}, "@": {strings.Count(got, "@"), 1},
			"len(got) > maxEmail": {len(got) > maxEmail, false}})
	})
}

func TestParseCode(t *testing.T) {
	for text, want := range map[string]string{"012345": "012345", " 012 345 ": "012345", "0 1 2 3 4 5": "012345", "\t012345\n": "012345",
		"": "", "12345": "", "1234567": "", "12a456": "", "-12345": "", "１２３４５６": "", "012345\x00": "", strings.Repeat(" ", 30) + "012345": ""} {
		if got, ok := ParseCode(text); got != want && ok || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add("012 345")
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := ParseCode(text)
		if again, good := ParseCode(code); ok && (!good || again != code || len(code) != codeSize || strings.Trim(code, "0123456789") != "") {
			t.Errorf("%q became %q", text, code)
		}
	})
}

func TestNewCodes(t *testing.T) {
	const n = 20_000
	first, seen := [10]int{}, map[string]bool{}
	for range n {
		code := NewCode()
		if got, ok := ParseCode(code); !ok || got != code {
			t.Fatalf("made %q", code)
		}
		first[code[0]-'0']++
		seen[code] = true
	}
	for digit, count := range first {
		if count < n/10-300 || count > n/10+300 { // 7 standard deviations
			t.Errorf("%d codes begin with %d", count, digit)
		}
	}
	if len(seen) < n*97/100 {
		t.Errorf("only %d of %d differ", len(seen), n)
	}
}

func TestCodeIsGoodOnceAndTenMinutes(t *testing.T) {
	keys := testKeys(t)
	right, wrong := keys.Hash("ada", "012345"), keys.Hash("ada", "012346")
	issued := func() (a Account) {
		if _, ok := a.Issue(right, at(0)); !ok {
			t.Fatal("no code for a new account")
		}
		return a
	}
	for name, now := range map[string]Moment{"at once": at(0), "at last": at(CodeLife - 1), "after a restart": after(time.Minute, true)} {
		a := issued()
		if !a.Try(right, now) {
			t.Errorf("%s: refused", name)
		}
		if a.Try(right, now) || !a.Idle(now) {
			t.Errorf("%s: replayed, or not forgotten: %+v", name, a)
		}
	}
	for name, now := range map[string]Moment{"too late": at(CodeLife), "restart, too late": after(CodeLife, true), "restart without a clock": after(time.Minute, false)} {
		a := issued()
		if a.Try(right, now) || a.Try(right, at(0)) {
			t.Errorf("%s: taken", name)
		}
	}
	a := issued()
	for range CodeTries {
		if a.Try(wrong, at(0)) {
			t.Error("a wrong code is taken")
		}
	}
	if a.Try(right, at(0)) {
		t.Error("a code is taken after too many tries")
	}
	a = issued()
	a.Issue(wrong, at(1))
	if a.Try(right, at(1)) || !a.Try(wrong, at(1)) {
		t.Error("a new code does not end the one before")
	}
	if new(Account).Try(nil, at(0)) || new(Account).Try([]byte{}, at(0)) {
		t.Error("no code is a right code")
	}
}

// TestGuessing lets somebody guess as fast as he may, with restarts between,
// and counts how many guesses met a living code.
func TestGuessing(t *testing.T) {
	keys := testKeys(t)
	rapid.Check(t, func(t *rapid.T) {
		var a Account
		now, guesses, issued := at(0), 0, 0
		start := now.Milli
		for i := range rapid.IntRange(1, 400).Draw(t, "steps") {
			step := rapid.SampledFrom([]time.Duration{0, time.Second, 5 * time.Minute, 31 * time.Minute}).Draw(t, "wait")
			now.Up, now.Milli = now.Up+step, now.Milli+step.Milliseconds()
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				now.Boot, now.Up = fmt.Sprint("boot", i), 0
			case 1, 2:
				if _, ok := a.Issue(keys.Hash("ada", NewCode()), now); ok {
					issued++
				}
			default:
				live := a.Live(now)
				if live {
					guesses++
				}
				if a.Try(keys.Hash("ada", "000000"), now) {
					return // one in a million
				}
			}
		}
		passed := time.Duration(now.Milli-start) * time.Millisecond
		most := CodeRate.Burst + int(passed/CodeRate.Every) + 1
		if issued > most || guesses > CodeTries*issued {
			t.Errorf("%d codes and %d guesses in %v", issued, guesses, passed)
		}
	})
}

func TestSeal(t *testing.T) {
	keys := testKeys(t)
	a, b := keys.Seal("here", []byte("secret text")), keys.Seal("here", []byte("secret text"))
	if bytes.Equal(a, b) || bytes.Contains(a, []byte("text")) {
		t.Error("sealed twice alike, or in clear")
	}
	if text, err := keys.Open("here", a); err != nil || string(text) != "secret text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := keys.Open("there", a); err == nil {
		t.Error("opened at another place")
	}
	a[len(a)-1] ^= 1
	if _, err := keys.Open("here", a); err == nil {
		t.Error("opened what was changed")
	}
	if _, err := keys.Open("here", nil); err == nil {
		t.Error("opened nothing")
	}
	if _, err := NewKeys(make([]byte, 31)); err == nil {
		t.Error("a short secret is taken")
	}
	if s := NewSecret(); len(s) != SecretSize || bytes.Equal(s, NewSecret()) {
		t.Error("secrets are not new")
	}
	if keys.Account("a@b") == keys.Account("a@c") || keys.Stamp(1, "x") == keys.Stamp(2, "x") || !SameStamp(keys.Stamp(1, "x"), keys.Stamp(1, "x")) {
		t.Error("names or stamps do not differ as they should")
	}
}

func TestAPISecrets(t *testing.T) {
	for _, prefix := range prefixes {
		secret := NewAPISecret(prefix)
		if !strings.HasPrefix(secret, prefix) || len(secret) != len(prefix)+52+1+8 || Mistyped(secret) || ShownPrefix(secret) != secret[:len(prefix)+4] {
			t.Errorf("secret %q", secret)
		}
		for i := len(prefix); i < len(secret); i++ {
			changed := []byte(secret)
			changed[i] ^= 1
			if !Mistyped(string(changed)) {
				t.Errorf("%q passes for %q", changed, secret)
			}
		}
		if !Mistyped(secret[:len(secret)-1]) || !Mistyped(prefix) {
			t.Error("half a secret passes for a whole one")
		}
	}
	if Mistyped("some-system-key") || Mistyped("") || ShownPrefix("some-system-key") != "" || ShownPrefix("rgsys_short") != "" {
		t.Error("a secret that somebody made up is judged")
	}
}

func FuzzMistyped(f *testing.F) {
	f.Add(NewAPISecret(SystemPrefix))
	f.Fuzz(func(t *testing.T, text string) {
		Mistyped(text)
		if p := ShownPrefix(text); len(p) > 16 || !strings.HasPrefix(text, p) {
			t.Errorf("%q shows %q", text, p)
		}
	})
}
