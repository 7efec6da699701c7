package support

import (
	"slices"
	"strings"
)

// told are the details of events that are nobody's: which device, and numbers.
var told = []string{"meeting_space_id", "device_id", "device", "sub_device", "status", "state", "temperature", "low", "high",
	"revision", "from", "to", "count", "free_bytes", "trusted", "attempt", "latency_ms", "source", "until", "previous_state", "version", "cause"}

// Event returns the details of an event of that type without what is
// somebody's. A text is kept only under a name of the list, and why something
// happened to a device; a number and a truth under any name but that of a code.
func Event(eventType string, details map[string]any) map[string]any {
	kept := map[string]any{}
	for name, value := range details {
		switch value.(type) {
		case string:
			if why := name == "reason" && strings.HasPrefix(eventType, "device"); !why && !slices.Contains(told, name) {
				value = Removed
			}
		case float64, bool, nil:
			if name == "code" || name == "pin" || name == "card" || name == "digits" {
				value = Removed
			}
		default:
			value = Removed
		}
		kept[name] = value
	}
	return kept
}
