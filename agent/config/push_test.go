package config

import (
	"errors"
	"testing"
)

func TestPush(t *testing.T) {
	const users = "\nusers: [{id: ada, email: ada@example.com, push_topic: phone}, {id: bob.b, email: bob@example.com}]\n"
	for text, key := range map[string]string{
		`push: {url: "https://ntfy.example.com", token: a, topic: "rooms-{user_id}"}`:                                             "users[1].push_topic", // the dot
		`push: {url: "https://ntfy.example.com", topic: phone}`:                                                                   "push.topic",
		`push: {url: "https://ntfy.example.com/topic"}`:                                                                           "push.url",
		`push: {url: "https://user:secret@ntfy.example.com"}`:                                                                     "push.url",
		`push: {url: "http://ntfy.example.com"}`:                                                                                  "push.url",
		`push: {url: "http://127.0.0.1:2586"}`:                                                                                    "",
		`push: {url: "http://ntfy.example.com", allow_http: true}`:                                                                "",
		`push: {url: "https://ntfy.example.com/", token_file: /run/token}`:                                                        "",
		`push: {url: "https://ntfy.example.com", token: a, token_file: b}`:                                                        "push.token_file",
		`push: {token_file: b, topic: "{user_id}"}`:                                                                               "",
		`push: {url: "http://127.0.0.1:"}`:                                                                                        "push.url",
		`push: {url: "https://n.example:0"}`:                                                                                      "push.url",
		`push: {url: "ntfy.example.com"}`:                                                                                         "push.url",
		"push: {url: \"https://n.example\"}\nspaces: []\nmessages: {organizers: maybe}":                                           "messages.organizers",
		"push: {url: \"https://n.example\", topic: \"{user_id}\"}\nmessages: {organizers: true}":                                  "users[1].push_topic",
		"push: {url: \"https://n.example\"}\nusers: [{id: a, email: a@b.c, push_topic: x}, {id: b, email: b@b.c, push_topic: x}]": "users[1].push_topic",
	} {
		more := users
		if len(key) > 5 && key[:5] == "users" && text[len(text)-1] == ']' {
			more = ""
		}
		_, err := Parse("g.yaml", []byte("gateway: {id: g}\n"+text+more), nil)
		var all *Errors
		errors.As(err, &all)
		switch {
		case key == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case key != "" && (all == nil || len(all.Problems) != 1 || all.Problems[0].Key != key):
			t.Errorf("%s: %v, want a problem with %s", text, err, key)
		}
	}
	p := Push{Topic: "rooms-{user_id}"}
	for want, u := range map[string]Person{"phone": {ID: "ada", PushTopic: "phone"}, "rooms-bob": {ID: "bob"}} {
		if got := p.TopicOf(u); got != want {
			t.Errorf("%+v: %q, want %q", u, got, want)
		}
	}
	if got := (Push{}).TopicOf(Person{ID: "bob"}); got != "" {
		t.Errorf("nobody said where: %q", got)
	}
}
