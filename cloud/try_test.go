package cloud

import (
	"testing"

	"roomgate/cloud/broker"
)

// TestTry: a log-in is proved without a session that stays.
func TestTry(t *testing.T) {
	b, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", Users: map[string]string{"g": "secret"}, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	url := "mqtt://" + b.Addr().String()
	stop := run(t, b.Run)
	try := func(url, password string) Cause {
		return Try(t.Context(), LinkOptions{URL: url, ClientID: "g-try", Login: LoginAs("g", func() (string, error) { return password, nil }), Log: quiet}).Cause
	}
	for password, want := range map[string]Cause{"secret": "", "Secret": CauseLogin} {
		if got := try(url, password); got != want {
			t.Errorf("%q: %q, want %q", password, got, want)
		}
	}
	if got := try("cloud.example.com", "secret"); got != CauseMisconfigured {
		t.Errorf("no address: %q", got)
	}
	stop()
	if got := try(url, "secret"); got != CauseUnreachable {
		t.Errorf("nobody listens: %q", got)
	}
}
