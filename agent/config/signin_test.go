package config

import "testing"

func TestUsersHaveDefaults(t *testing.T) {
	c, err := Parse("g.yaml", []byte("gateway: {id: g}\nusers: [{id: ada, email: ada@example.com}, {id: bob, email: bob@example.com, role: admin, enabled: no}]"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Person{{ID: "ada", Email: "ada@example.com", Role: "member", Enabled: true}, {ID: "bob", Email: "bob@example.com", Role: "admin"}}
	if c.Users[0] != want[0] || c.Users[1] != want[1] {
		t.Errorf("%+v", c.Users)
	}
}

func TestRelayServer(t *testing.T) {
	for url, want := range map[string]struct {
		address         string
		implicit, plain bool
	}{
		"smtp://mail.example.com": {"mail.example.com:587", false, false}, "smtps://mail.example.com": {"mail.example.com:465", true, false},
		"smtp://127.0.0.1:25": {"127.0.0.1:25", false, true}, "smtp://[::1]:25": {"[::1]:25", false, true}, "smtp://localhost": {"localhost:587", false, true},
		"smtps://localhost": {"localhost:465", true, false}, "smtp://localhost.example.com:2525": {"localhost.example.com:2525", false, false},
		"smtp://[::ffff:127.0.0.1]:25": {"[::ffff:127.0.0.1]:25", false, true}, "smtp://10.0.0.1": {"10.0.0.1:587", false, false},
	} {
		if address, implicit, plain := (SMTP{URL: url}).Server(); address != want.address || implicit != want.implicit || plain != want.plain {
			t.Errorf("%s: %s, %v, %v", url, address, implicit, plain)
		}
	}
}

func TestOrganizationOfASpace(t *testing.T) {
	if o := (Space{CustomerID: "a"}).Organization(); o != "a" {
		t.Errorf("that of the owner is %q", o)
	}
	if o := (Space{CustomerID: "a", OrganizationID: "b"}).Organization(); o != "b" {
		t.Errorf("one of its own is %q", o)
	}
}
