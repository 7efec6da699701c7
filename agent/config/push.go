package config

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"roomgate/agent/message"
	"roomgate/drivers"
)

// Push is the gateway that messages to mobile devices go through, besides the
// cloud. An empty URL means that there is none.
type Push struct {
	// URL is the root of a server that speaks ntfy's interface: https://host.
	URL       string         `yaml:"url"`
	Token     drivers.Secret `yaml:"token"`
	TokenFile string         `yaml:"token_file"`
	CAFile    string         `yaml:"ca_file"`
	// Topic is where users without a push_topic are reached; {user_id} stands
	// for theirs. Empty: they are not.
	Topic string `yaml:"topic"`
	// AllowHTTP lets messages and the token go without TLS.
	AllowHTTP bool `yaml:"allow_http"`
}

// Messages says what people are told by themselves.
type Messages struct {
	// Organizers are told when their booking is released or displaced.
	Organizers bool `yaml:"organizers"`
}

// userPlace stands for a user's id in Push.Topic.
const userPlace = "{user_id}"

// TopicOf is where a user is reached, empty if nowhere.
func (p Push) TopicOf(u Person) string {
	switch {
	case u.PushTopic != "":
		return u.PushTopic
	case p.Topic == "":
		return ""
	}
	return strings.ReplaceAll(p.Topic, userPlace, u.ID)
}

// rootURL says whether a URL has what leads to a server, and nothing else.
func rootURL(u *url.URL) bool {
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "1"), 10, 16)
	return err == nil && port > 0 && u.Hostname() != "" && !strings.HasSuffix(u.Host, ":") && (u.Scheme == "https" || u.Scheme == "http") &&
		strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}

func (r *reader) push(p Push, users []Person) {
	if p.Token != "" && p.TokenFile != "" {
		r.refuse("push.token_file", "and push.token are both there: keep one")
	}
	u, err := url.Parse(p.URL)
	switch {
	case p.URL == "":
		return
	case err == nil && u.User != nil:
		r.refuse("push.url", "holds credentials: write them as push.token or push.token_file")
	case err != nil || !rootURL(u):
		r.refuse("push.url", "is not the root of a push gateway: want https://HOST[:PORT], the topic is not part of it")
	case u.Scheme == "http" && !p.AllowHTTP && !thisMachine(u.Hostname()):
		r.refuse("push.url", "is http, so that others read messages and token: want https, or set push.allow_http")
	}
	if p.Topic != "" && !strings.Contains(p.Topic, userPlace) {
		r.refuse("push.topic", "has no %s: all users would read each other's messages", userPlace)
		return
	}
	seen := map[string]bool{}
	for i, u := range users {
		key, topic := fmt.Sprintf("users[%d].push_topic", i), p.TopicOf(u)
		switch {
		case topic == "":
		case !message.ValidTopic(topic):
			r.refuse(key, "is %q: want 1 to 64 letters, digits, - and _", short(topic))
		case seen[topic]:
			r.refuse(key, "is that of another user: both would read each other's messages")
		}
		seen[topic] = true
	}
}
