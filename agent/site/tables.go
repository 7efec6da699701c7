package site

import (
	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/store"
)

// overrides holds the spaces and devices that were made or changed at run time.
var overrides = store.NewTable[storedOverride]("additions")

// Buckets names the table in the store.
func Buckets() []string { return []string{overrides.Bucket()} }

// OverrideBucket names the table of what is laid over the file at run time.
func OverrideBucket() string { return overrides.Bucket() }

// Words are the private ones of the overrides, which must not be in a support
// bundle.
func Words(tx *store.Tx, keys *auth.Keys) (words []string) {
	for key, s := range overrides.All(tx) {
		if text, err := keys.Open(key, s.Sealed); err == nil {
			whole := `{"spaces":[` + string(text) + `]}`
			if isDevice(key) {
				whole = `{"spaces":[{"devices":[` + string(text) + `]}]}`
			}
			_, removed := config.Redact([]byte(whole))
			words = append(words, removed...)
		}
		if u := openRoomUser(keys, key, s.User); u != nil {
			words = append(words, u.Password)
		}
	}
	return words
}
