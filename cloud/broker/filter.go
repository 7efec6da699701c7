package broker

import "strings"

// Matches says whether a topic is one that a filter stands for (MQTT 3.1.1,
// 4.7): + is any one level, # at the end is any number of levels, none too.
func Matches(filter, topic string) bool {
	for {
		f, filterRest, filterMore := strings.Cut(filter, "/")
		t, topicRest, topicMore := strings.Cut(topic, "/")
		switch {
		case f == "#":
			return true
		case f != "+" && f != t:
			return false
		case !filterMore:
			return !topicMore
		case !topicMore:
			return filterRest == "#"
		}
		filter, topic = filterRest, topicRest
	}
}
