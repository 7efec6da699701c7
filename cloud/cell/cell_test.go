package cell

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// A full cell is followed by the next one; who leaves makes room, and who comes again gets
// another password in the same cell.
func TestCellsFill(t *testing.T) {
	c := &Logins{Size: 2}
	for i := range 5 {
		made, err := c.Admit(fmt.Sprint("g", i))
		if want := 1 + (i+1)%2; err != nil || len(made) != want {
			t.Fatalf("gateway %d: %d passwords are made, %v: want %d", i, len(made), err, want)
		}
	}
	if err := errors.Join(c.Expel("g1")); err != nil {
		t.Fatal(err)
	}
	before := c.Gateways[c.find("g3")]
	for gateway, want := range map[string]int{"g3": 2, "late.r": 1} {
		made, err := c.Admit(gateway)
		l := c.Gateways[c.find(gateway)]
		if err != nil || l.Cell != want || len(made) != 1 || bcrypt.CompareHashAndPassword([]byte(l.Bcrypt), []byte(made[gateway])) != nil {
			t.Errorf("%s is in cell %d with %d new passwords, %v: want cell %d and its own", gateway, l.Cell, len(made), err, want)
		}
	}
	if c.Gateways[c.find("g3")].Bcrypt == before.Bcrypt {
		t.Error("a gateway that comes again keeps its password")
	}
	if err := c.Expel("g1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a gateway was expelled twice: %v", err)
	}
	if _, err := c.Admit("a/b"); !errors.Is(err, ErrGateway) {
		t.Errorf("a/b was admitted: %v", err)
	}
}

// What brokers read names each gateway for its own topics alone, in the cell that it is in.
func TestFiles(t *testing.T) {
	c := &Logins{Size: 2}
	for _, g := range []string{"hq", "berlin.3", "far"} {
		if _, err := c.Admit(g); err != nil {
			t.Fatal(err)
		}
	}
	files := c.Files()
	if len(files) != 5 {
		t.Errorf("there are %d files: want 5", len(files))
	}
	first, second, _ := strings.Cut(files["accounts.conf"], "CELL_2")
	for text, words := range map[string][]string{
		first: {`{user: "backend@1"`, `allowed_connection_types: ["MQTT", "STANDARD"],`, `permissions: {publish: {allow: ["roomgate.v1.*.down.>", "$JS.API.INFO", "$JS.API.STREAM.*.UP"`, `{user: "berlin.3"`, `publish: {allow: ["roomgate.v1.berlin//3.up.>"]}`,
			`subscribe: {allow: ["roomgate.v1.hq.down.*", "roomgate.v1.hq.up.presence", "$MQTT.sub.>"]}`},
		second:                         {`{user: "backend@2"`, `{user: "far"`},
		files["mosquitto-1.acl"]:       {"user backend@1\n", "pattern write roomgate/v1/%u/up/#\n"},
		files["mosquitto-2.passwords"]: {"backend@2:$7$101$", "\nfar:$7$101$"},
	} {
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in\n%s", w, text)
			}
		}
	}
	if strings.Contains(first, `"far"`) {
		t.Error("a gateway is in two cells")
	}
}

// Two gateways that a broker would take for one client are not both admitted.
func TestClientsAreDistinct(t *testing.T) {
	c := &Logins{}
	for _, g := range []string{"a.b", "a.b", "fleet"} {
		if _, err := c.Admit(g); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Admit("a--b"); !errors.Is(err, ErrClient) || !strings.Contains(err.Error(), "a.b") {
		t.Errorf("a--b is admitted beside a.b: %v", err)
	}
}

// With certificates NATS has no passwords, and nobody is let in where no certificate is asked for.
func TestCertificateUsers(t *testing.T) {
	c := &Logins{Certificates: true}
	if _, err := c.Admit("hq"); err != nil {
		t.Fatal(err)
	}
	text := c.Files()["accounts.conf"]
	for _, want := range []string{`{user: "CN=hq", allowed_connection_types: ["MQTT"],`, `{user: "CN=backend@1", allowed_connection_types: ["MQTT"],`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "password") || strings.Contains(text, "STANDARD") {
		t.Error(text)
	}
}
