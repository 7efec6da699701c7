package api

import "testing"

// TestRulesThatTellPeople: nobody is told by a rule what its maker could not
// tell him himself.
func TestRulesThatTellPeople(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, tells := b.orgKey(t, auroraOrg, "rules:write", "messages:write")
		_, mute := b.orgKey(t, auroraOrg, "rules:write", "devices:write")
		for _, c := range []struct {
			what, key, to string
			status        int
			field         string
		}{
			{"one of its people", tells, `{"user_id":"mel"}`, 201, ""},
			{"his topic", tells, `{"topic":"rooms-mel"}`, 201, ""},
			{"an address", tells, `{"email":"eve@example.com"}`, 201, ""},
			{"the organizer", tells, `{"organizer":true}`, 201, ""},
			{"somebody of another organization", tells, `{"user_id":"bob"}`, 404, "actions[0].to.user_id"},
			{"a topic of another", tells, `{"topic":"rooms-bob"}`, 403, "actions[0].to.topic"},
			{"somebody without the right to", mute, `{"user_id":"mel"}`, 403, "actions[0]"},
			{"a stranger", "X-API-Key: " + systemKey, `{"user_id":"eve"}`, 404, "actions[0].to.user_id"},
			{"another's, by the building", "X-API-Key: " + systemKey, `{"user_id":"bob"}`, 201, ""},
			{"nobody that there could be", tells, `{"room":"3.07"}`, 422, "actions[0].to.room"},
		} {
			got := b.net.do(t, "POST", "/rules", c.key, `{"name":"a","meeting_space_id":"`+aurora+`","trigger":{"booking":"booking.created"},"actions":[{"to":`+c.to+`,"message":"b"}]}`)
			if c.field != "" {
				checkProblem(t, c.what, got, c.status, map[int]string{403: "forbidden", 404: "not_found", 422: "invalid"}[c.status], c.field)
			} else if got.StatusCode != c.status {
				t.Errorf("%s: %d %s", c.what, got.StatusCode, got.body)
			}
		}
	}, tenants)
}
