package roombroker

import "regexp"

// notInTopic is what an object's name in a topic of Home Assistant's may not have.
var notInTopic = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// Object is a name as topics of Home Assistant's take it.
func Object(name string) string { return notInTopic.ReplaceAllString(name, "_") }

// Base precedes the gateway's own topics, with a slash at the end.
func Base(gateway string) string { return "roomgate/room/" + gateway + "/" }

// Node is the gateway in topics of Home Assistant's.
func Node(gateway string) string { return "roomgate_" + Object(gateway) }

// Own are filters of the topics in which the gateway speaks for itself, so that
// nobody else may.
func Own(gateway string) []string {
	base := Base(gateway)
	return []string{base + "status", base + "+/state", base + "+/availability", base + "+/intensity",
		"+/+/" + Node(gateway) + "/#"}
}
