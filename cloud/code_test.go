package cloud

import (
	"bytes"
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestCodesAreReadAsTheyAreMeant(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		code := NewCode()
		if !regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$`).MatchString(code) || seen[code] {
			t.Fatalf("code %q", code)
		}
		seen[code] = true
	}
	for _, c := range []struct {
		typed, want string
	}{
		{"0123-4567-89AB-CDEF", "0123456789ABCDEF"},
		{" o123 4567 89ab cdef ", "0123456789ABCDEF"},
		{"il00-uuuu-0000-0000", "1100VVVV00000000"},
		{"0123-4567-89AB-CDE", ""},
		{"0123-4567-89AB-CDEFG", ""},
		{"0123-4567-89AB-CDE!", ""},
		{"0123-4567-89AB-CDEé", ""},
		{"", ""},
		{strings.Repeat("-", 100) + "0123456789ABCDEF", ""},
	} {
		if got, ok := ReadCode(c.typed); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q is read as %q, %v", c.typed, got, ok)
		}
	}
}

func TestOnlyTheCodeOpens(t *testing.T) {
	code, topic := NewCode(), Topics{"g"}.Down("claim")
	sealed, err := Seal(code, topic, []byte("secret"))
	if err != nil || bytes.Contains(sealed, []byte("secret")) {
		t.Fatalf("sealed %q: %v", sealed, err)
	}
	for typed, want := range map[string]bool{code: true, strings.ToLower(strings.ReplaceAll(code, "-", " ")): true, NewCode(): false, "": false} {
		got, err := Unseal(typed, topic, sealed)
		if (err == nil) != want || want && string(got) != "secret" || !want && !errors.Is(err, ErrCode) {
			t.Errorf("%q: %q, %v", typed, got, err)
		}
	}
	if _, err := Unseal(code, Topics{"h"}.Down("claim"), sealed); !errors.Is(err, ErrCode) {
		t.Errorf("another gateway's: %v", err)
	}
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 1
		if _, err := Unseal(code, topic, broken); !errors.Is(err, ErrCode) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	for n := range sealed {
		if _, err := Unseal(code, topic, sealed[:n]); !errors.Is(err, ErrCode) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestSealedAsDescribed holds the format to what asyncapi.yaml tells those who
// seal in another language; it was sealed by other means.
func TestSealedAsDescribed(t *testing.T) {
	sealed, err := base64.StdEncoding.DecodeString("AAECAwQFBgcICQoLGpReeszMnuxR7gJD5ViDaIuVQkbYAoIWpTVQr4jbPIQ1tp+OXSNt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unseal("0123-4567-89AB-CDEF", "roomgate/v1/g/down/claim", sealed)
	if err != nil || string(got) != `{"organization_id":"x"}` {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzReadCode(f *testing.F) {
	for _, s := range []string{"0123-4567-89AB-CDEF", "o123", "é", "\x00", strings.Repeat("A", 65)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		code, ok := ReadCode(typed)
		if !ok {
			return
		}
		if again, ok := ReadCode(code); !ok || again != code || len(code) != codeSize {
			t.Errorf("%q is read as %q, and that as %q", typed, code, again)
		}
	})
}
