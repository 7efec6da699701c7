// Package filter is MQTT topic filters: what they match, and what one has of
// another.
package filter

import "strings"

// Matches says whether a topic is one that a filter stands for (MQTT 3.1.1,
// 4.7): + is any one level, # at the end is any number of levels, none too. A
// topic that begins with $ is matched by no wildcard in the first place.
func Matches(filter, topic string) bool {
	return Covers(filter, topic) && !strings.ContainsAny(topic, "+#")
}

// Covers says whether a filter stands for every topic that another one stands
// for. A filter without wildcards is a topic.
func Covers(filter, other string) bool {
	if strings.HasPrefix(other, "$") && !strings.HasPrefix(filter, "$") {
		return false
	}
	for {
		f, filterRest, filterMore := strings.Cut(filter, "/")
		o, otherRest, otherMore := strings.Cut(other, "/")
		switch {
		case f == "#":
			return true
		case o == "#" || f != "+" && f != o:
			return false
		case !filterMore:
			return !otherMore
		case !otherMore:
			return filterRest == "#"
		}
		filter, other = filterRest, otherRest
	}
}

// Valid says whether a text is a filter that topics of devices can match:
// not empty, + a level of its own, # the last one, at most 1024 bytes.
func Valid(filter string) bool {
	if filter == "" || len(filter) > 1024 || filter[0] == '$' || strings.Contains(filter, "\x00") {
		return false
	}
	all := strings.Split(filter, "/")
	for i, level := range all {
		if strings.ContainsAny(level, "+#") && (len(level) > 1 || level == "#" && i < len(all)-1) {
			return false
		}
	}
	return true
}
