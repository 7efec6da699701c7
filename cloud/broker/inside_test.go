package broker

import "testing"

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		filter, topic string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a", false}, {"a/b", "a/b/c", false}, {"a/b", "A/b", false},
		{"a/+", "a/b", true}, {"a/+", "a", false}, {"a/+/c", "a/b/c", true}, {"a/+", "a/", true}, {"+", "/a", false},
		{"a/#", "a/b/c", true}, {"a/#", "a", true}, {"a/#", "ab", false}, {"#", "a/b", true},
		{"a/+/set/#", "a/b/set", true}, {"a/+/set/#", "a/set", false},
	} {
		if got := Matches(c.filter, c.topic); got != c.want {
			t.Errorf("%s stands for %s: %t", c.filter, c.topic, got)
		}
	}
}

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
