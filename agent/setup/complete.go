package setup

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"roomgate/drivers"
)

// complete fills in what answers may leave out: the ids of spaces and devices,
// the type of a device that its driver tells, the page of a display. A space
// that base has under its name keeps its id. The ids come from the gateway's
// and the space's names alone, so that the same answers give the same ids.
func complete(over, base *yaml.Node, kinds []drivers.Kind, timezone string) {
	gateway := word(at(over, "gateway"), "id")
	if gateway == "" {
		gateway = word(at(base, "gateway"), "id")
	}
	for _, s := range items(at(over, "spaces")) {
		before := &yaml.Node{}
		if known := at(base, "spaces"); known != nil {
			if i := match(known, s, "spaces"); i >= 0 {
				before = known.Content[i]
			}
		}
		first(s, "id", word(before, "id"), SpaceID(gateway, word(s, "name")))
		if word(before, "id") == "" && word(s, "timezone") == "" && timezone != "" {
			put(s, "timezone", scalar(timezone))
		}
		for _, d := range items(at(s, "devices")) {
			completeDevice(d, s, at(before, "devices"), kinds)
		}
	}
}

func completeDevice(d, s, known *yaml.Node, kinds []drivers.Kind) {
	for _, k := range kinds {
		if k.Name == word(d, "driver") {
			first(d, "type", k.Type)
		}
	}
	deviceType := word(d, "type")
	if known != nil && known.Kind == yaml.SequenceNode {
		if i := match(known, d, "spaces.devices"); i >= 0 {
			first(d, "id", word(known.Content[i], "id"))
		}
	}
	first(d, "id", DeviceID(word(s, "name"), deviceType))
	if word(d, "driver") == "display-page" && word(at(d, "options"), "page") == "" {
		put(within(d, "options"), "page", scalar(word(s, "id")))
	}
}

// first puts a key in front, unless it has a value: the first that is not
// empty.
func first(n *yaml.Node, name string, values ...string) {
	if word(n, name) != "" {
		return
	}
	for _, v := range values {
		if v == "" {
			continue
		}
		drop(n, name)
		n.Content = append([]*yaml.Node{scalar(name), scalar(v)}, n.Content...)
		return
	}
}

// SpaceID is a UUID of version 8 (RFC 9562) made of names.
func SpaceID(gateway, name string) string {
	if name == "" {
		return ""
	}
	b := sha256.Sum256([]byte("roomgate meeting space\x00" + gateway + "\x00" + strings.ToLower(name)))
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// DeviceID is the space's name and a short word for the type, as atlas-lock.
func DeviceID(space, deviceType string) string {
	if space == "" || deviceType == "" {
		return ""
	}
	short := map[string]string{drivers.TypeO3: "o3", drivers.TypeDisplay: "display"}[deviceType]
	if short == "" {
		short = deviceType
	}
	return roomWord(space) + "-" + short
}

// roomWord is a room in the ids of its devices. A name without a letter that ids take is told from
// another by a sum of it.
func roomWord(space string) string {
	if strings.ContainsFunc(strings.ToLower(space), func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }) {
		return Slug(space)
	}
	sum := sha256.Sum256([]byte(space))
	return fmt.Sprintf("room-%x", sum[:3])
}

// SameIDs says whether the devices of two rooms would have the same ids: these have only letters and
// digits of a name.
func SameIDs(room, other string) bool { return roomWord(room) == roomWord(other) }

// Slug is a name in the letters that ids take, at most 40 of them.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-")
	if s == "" {
		return "room"
	}
	return strings.Trim(s[:min(len(s), 40)], "-")
}
