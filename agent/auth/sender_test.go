package auth

import "testing"

func TestParseSender(t *testing.T) {
	for text, want := range map[string]string{"Röom <gate@example.com>": "gate@example.com", "gate@example.com": "gate@example.com",
		"": "", "gate": "", "a@b, c@d": "", "ü@example.com": "", "<a@b>\r\nBcc: x@y": ""} {
		a, err := ParseSender(text)
		if (err == nil) != (want != "") || err == nil && a.Address != want {
			t.Errorf("%q: %v, %v", text, a, err)
		}
	}
}
