package broker

import "testing"

// TestInside: the process itself needs no password, and only it is Inside.
func TestInside(t *testing.T) {
	o := Options{Users: map[string]string{"bridge": "secret"}}
	o.ACL = func(user, topic string, write bool) bool { return !write || user == Inside || topic != "door/set" }
	bubble(t, o, func(t *testing.T, b *Broker) {
		door := join(t, b, login(hello("bridge"), "bridge", "secret"))
		if code := door.subscribe(1, "door/set", 0); code != 0 {
			t.Fatalf("the door may not listen: code %d", code)
		}
		own := dialWith(t, b.ServeInside)
		if code := own.connect(hello("roomgate-a")); code != 0 {
			t.Fatalf("the process itself got code %d", code)
		}
		if code := dial(t, b).connect(hello("roomgate-b")); code == 0 {
			t.Error("somebody else came in without a password")
		}
		if code := dialWith(t, b.ServeInside).connect(hello("bridge/b")); code == 0 {
			t.Error("the process took a client id that is a user's")
		}
		forger := join(t, b, login(hello("bridge/forger"), "bridge", "secret"))
		forger.send(message(0, "door/set", "forged", 0, false))
		forger.subscribe(2, "else", 0) // by then the order was looked at
		own.send(message(0, "door/set", "ours", 0, false))
		if got := door.next(); got != "ours" {
			t.Errorf("the door got %q", got)
		}
	})
}
