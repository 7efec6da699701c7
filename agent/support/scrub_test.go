package support

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScrubber(t *testing.T) {
	s := NewScrubber([]string{"Aurora", "Aurora Hall", "a.b", "roomgate", "ab", " ", "Grüße",
		"https://feed.example/x", "relay.example:587", "Rooms <rooms@from.example>", "http://127.0.0.1:80/"})
	for _, c := range []struct{ text, want string }{
		{"roomgate: aurora hall lock is offline", "roomgate: [removed] lock is offline"},
		{"AURORA a.b axb ab", "[removed] [removed] axb ab"},
		{"lookup feed.example: no such host; relay.example is down", "lookup [removed]: no such host; [removed] is down"},
		{"Rooms at from.example, 127.0.0.1", "[removed] at [removed], 127.0.0.1"},
		{"grüße aus Berlin", "[removed] aus Berlin"},
		{"mail to <ada.o'neil+x@example.com>: refused", "mail to <[removed]>: refused"},
		{"dial mqtts://u:p@broker.example:8883/x?y: refused", "dial mqtts://[removed] refused"},
		{"key rgsys_abc_12 and whsec_xx/+= and eyJhbGciOi.J9.x", "key [removed] and [removed] and [removed]"},
		{"id 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01 stays", "id 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01 stays"},
		{"booking 01M811PJKGT69E97JN3K497BWM stays", "booking 01M811PJKGT69E97JN3K497BWM stays"},
		{"hash 0123456789abcdef0123456789abcdef01", "hash [removed]"},
		{"/sys/class/thermal/thermal_zone0/temp/and/more", "/sys/class/thermal/thermal_zone0/temp/and/more"},
		{"topic a/0123456789abcdef0123456789abcdef01", "topic [removed]"},
	} {
		if got := s.Text(c.text); got != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
	}
	if got := NewScrubber(nil).Text("nothing to hide"); got != "nothing to hide" {
		t.Errorf("got %q", got)
	}
}

func TestEvent(t *testing.T) {
	got := Event("deviceOffline", map[string]any{"reason": "timeout", "device": "aurora-lock", "title": "Board", "value": "hello", "temperature": 21.5, "code": 4711.0, "organizer": map[string]any{"name": "Ada"}, "low": 16.0})
	want := map[string]any{"reason": "timeout", "device": "aurora-lock", "title": Removed, "value": Removed, "temperature": 21.5, "code": Removed, "organizer": Removed, "low": 16.0}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := Event("booking.cancelled", map[string]any{"reason": "Ada is ill"}); got["reason"] != Removed {
		t.Errorf("got %v", got)
	}
}
