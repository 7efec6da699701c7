package api

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestConsoleTakesNoStrangeQuery: every page and dialog of the console is asked about what is not there, is another
// organization's or is no value at all. None of them fails, and none shows what is not for who asks.
func TestConsoleTakesNoStrangeQuery(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		start := time.Now().UTC().Truncate(24 * time.Hour).Add(33 * time.Hour).Format(time.RFC3339)
		made := b.net.do(t, "POST", "/bookings", b.by(t, "mel@example.com"), `{"id":"hers","meeting_space_id":"`+aurora+`","title":"Redundancies","private":true,"start_time":"`+start+`","minutes":60}`)
		if made.StatusCode != 201 {
			t.Fatalf("%d %s", made.StatusCode, made.body)
		}
		parts := strings.Fields("overview space events accept manage setup displays users keys organizations webhooks deliveries rules codes changes " +
			"control book booking user organization rule explain ways device")
		names := strings.Fields("id space of booking user organization rule webhook way day start type device")
		askers := map[string]string{"the building": "X-API-Key: " + systemKey} // by what they must not see
		hidden := map[string]string{"ann@example.com": "Borealis", "ora@example.com": "Redundancies", "eve@example.com": "Redundancies", "dis@example.com": "Redundancies"}
		for email := range hidden {
			askers[email] = b.by(t, email)
		}
		n := 0
		for who, key := range askers {
			for _, part := range parts {
				for _, value := range []string{"", aurora, borealis, "hers", "lock", "../..", "<script>", strings.Repeat("a", 3000), "-1", "2030-01-01", "0001-01-01", "9999-12-31", "\x00", auroraOrg, borealisOrg} {
					query := url.Values{}
					for _, name := range names {
						query.Set(name, value)
					}
					if strings.HasSuffix(value, "-01") || strings.HasSuffix(value, "-31") || value == "lock" {
						query.Set("id", aurora)
					}
					for _, kind := range []string{"stream", "panel"} {
						n++
						got := b.from(n, "GET", "/console/"+kind+"/"+part+"?"+query.Encode(), key, "")
						if got.Code >= 500 || hidden[who] != "" && strings.Contains(got.Body.String(), hidden[who]) {
							t.Errorf("%s asks for the %s %s with %.20q: %d %.300s", who, kind, part, value, got.Code, got.Body)
						}
					}
				}
			}
		}
		if n < 3000 {
			t.Errorf("only %d requests", n)
		}
	}, roles)
}
