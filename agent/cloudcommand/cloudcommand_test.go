package cloudcommand

import (
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
)

// FuzzRead: a broker says what it likes. What is read of it has a life within bounds, and
// what is refused says so as the sender's fault.
func FuzzRead(f *testing.F) {
	for _, data := range []string{
		`{"meeting_space_id":"aurora","device_type":"lock","action":"open","ttl_s":5,"expires_at":"2026-11-23T09:00:00Z"}`,
		`{"ttl_s":1e300}`, `{"ttl_s":-0.001}`, `{"ttl_s":null,"expires_at":null}`, `{"expires_at":"0001-01-01T00:00:00Z"}`, `{"expire_at":1}`, `{"value":{"a":[1]}}`, `[]`, ``,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := read(cloud.Envelope{ID: "c1", Data: data})
		if err != nil {
			if e := AsError(err); e.Code != problem.Invalid {
				t.Errorf("%q: %v", data, err)
			}
			return
		}
		if c.TTL < 0 || c.TTL > device.LongestLife || c.TTL > 0 && c.TTL < time.Millisecond || !c.ExpiresAt.IsZero() && !eventlog.Storable(c.ExpiresAt) {
			t.Errorf("%q: %+v", data, c)
		}
	})
}
