package auth

import "regexp"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// IsUUID says whether a text is a UUID in small letters, as spaces,
// organizations and users have one.
func IsUUID(text string) bool { return uuid.MatchString(text) }
