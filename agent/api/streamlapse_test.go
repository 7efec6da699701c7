package api

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/config"
)

// TestLessenedKeyEndsItsStreams: whose key may no longer read events hears none, by a stream that is open or a request that
// waits, in both versions, and neither does who has bought a token with that key.
func TestLessenedKeyEndsItsStreams(t *testing.T) {
	for _, path := range []string{"/devices/events", "/v2.0/events", "/devices/" + aurora + "/events", "/v2.0/meeting-spaces/" + aurora + "/events"} {
		inBuilding(t, func(t *testing.T, b *building) {
			key, header := b.orgKey(t, auroraOrg, "devices:read", "events:read")
			for who, with := range map[string]string{"the key": header, "its token": "Authorization: Bearer " + b.buy(t, header, `{}`)} {
				s := b.stream(t, path, with)
				defer s.close()
				waits := make(chan answer, 1)
				cursor := b.events("/devices/events?limit=1").Next
				go func() { waits <- b.net.do(t, "GET", path+"?wait=50s&event_type=occupancyChanged&cursor="+cursor, with) }()
				synctest.Wait()
				defer func(who string) {
					start := time.Now()
					defer time.AfterFunc(time.Minute, s.close).Stop()
					if rest, err := io.ReadAll(s.lines); err != nil || len(rest) > 0 {
						t.Errorf("%s: the stream of %s goes on with %q, %v", path, who, rest, err)
					}
					if got := <-waits; got.StatusCode != http.StatusUnauthorized {
						t.Errorf("%s: what %s waits for is answered %d %s", path, who, got.StatusCode, got.body)
					}
					if took := time.Since(start); took > 2*time.Second {
						t.Errorf("%s: %s was cut off after %v", path, who, took)
					}
				}(who)
			}
			if err := b.lessen(key, header); err != nil {
				t.Fatal(err)
			}
		}, tenants, func(c *config.Config) { c.Spaces[0].OrganizationID = auroraOrg })
	}
}
