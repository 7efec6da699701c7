package api

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/agent/access"
)

// TestChangesOfOneCredentialArePaced: who changes something without a pause is slowed down,
// one after the other without a refusal, and many at a time are refused with when to come
// again. Somebody else, and who reads, is not.
func TestChangesOfOneCredentialArePaced(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, key := b.orgKey(t, auroraOrg, "rules:write", "bookings:read")
		change := func(key string) answer { return b.net.do(t, "POST", "/rules", key, `{}`) } // is refused by its content
		start := time.Now()
		for range paceBurst {
			if got := change(key); got.StatusCode != http.StatusUnprocessableEntity {
				t.Fatalf("within the burst: %d %s", got.StatusCode, got.body)
			}
		}
		if took := time.Since(start); took > paceStep {
			t.Errorf("%d changes take %v", paceBurst, took)
		}
		for range 20 {
			if got := change(key); got.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("one after the other: %d %s", got.StatusCode, got.body)
			}
		}
		if took := time.Since(start); took < 20*paceStep {
			t.Errorf("20 more take %v", took)
		}
		var all sync.WaitGroup
		var taken, refused atomic.Int32
		for range 300 {
			all.Go(func() {
				switch got := change(key); {
				case got.StatusCode == http.StatusTooManyRequests && got.Header.Get("Retry-After") != "":
					refused.Add(1)
				case got.StatusCode == http.StatusUnprocessableEntity:
					taken.Add(1)
				}
			})
		}
		all.Go(func() {
			start := time.Now()
			for _, got := range []answer{change("X-API-Key: " + systemKey), b.net.do(t, "GET", "/bookings", key)} {
				if took := time.Since(start); got.StatusCode == http.StatusTooManyRequests || took > paceStep {
					t.Errorf("beside them: %d after %v", got.StatusCode, took)
				}
			}
		})
		all.Wait()
		if most := int32(longestPace / paceStep); taken.Load() != most || refused.Load() != 300-most {
			t.Errorf("of 300 at one time %d are taken and %d refused, want %d taken", taken.Load(), refused.Load(), most)
		}
	}, tenants)
}

// TestBulkIsPaced: an operation of a bulk request counts as a request of its own does, one
// bulk request after the other is only slowed down, and who sends many at a time is refused
// before anything is done.
func TestBulkIsPaced(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, key := b.orgKey(t, auroraOrg, "bookings:write")
		operations := strings.Repeat(`,{"operation":"cancel","id":"none"}`, maxOperations)[1:]
		bulk := func() answer { return b.net.do(t, "POST", "/bookings/bulk", key, `{"operations":[`+operations+`]}`) }
		start, took := time.Now(), time.Duration(0)
		for i := range paceBurst/maxOperations + 3 {
			if got := bulk(); got.StatusCode != http.StatusOK || strings.Count(got.body, `"status":404,"problem"`) != maxOperations {
				t.Fatalf("bulk request %d: %d %.300s", i, got.StatusCode, got.body)
			}
			if took = time.Since(start); i == paceBurst/maxOperations-1 && took > paceStep {
				t.Errorf("%d changes take %v", paceBurst, took)
			}
		}
		if want := 3 * maxOperations * paceStep; took < want || took > want+time.Second {
			t.Errorf("%d more take %v, want %v", 3*maxOperations, took, want)
		}
		var all sync.WaitGroup
		var taken, refused atomic.Int32
		for range 20 {
			all.Go(func() {
				switch got := bulk(); {
				case got.StatusCode == http.StatusTooManyRequests && got.Header.Get("Retry-After") != "" && !strings.Contains(got.body, "results"):
					refused.Add(1)
				case got.StatusCode == http.StatusOK:
					taken.Add(1)
				}
			})
		}
		all.Wait()
		if taken.Load() < 1 || taken.Load() > 2 || taken.Load()+refused.Load() != 20 {
			t.Errorf("of 20 at one time %d are taken and %d refused", taken.Load(), refused.Load())
		}
	}, tenants)
}

// TestChangesOfOneTenantArePaced: an organization changes no more for having many keys. Others are not slowed down.
func TestChangesOfOneTenantArePaced(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		change := func(key string) time.Duration {
			start := time.Now()
			if got := b.net.do(t, "POST", "/rules", key, `{}`); got.StatusCode != http.StatusUnprocessableEntity { // is refused by its content
				t.Fatalf("%d %s", got.StatusCode, got.body)
			}
			return time.Since(start)
		}
		var late time.Duration
		for range paceOfOrg + 1 {
			_, key := b.orgKey(t, auroraOrg, "rules:write")
			for range paceBurst {
				late = change(key)
			}
		}
		if late != paceStep/paceOfOrg {
			t.Errorf("the last waits %v, want %v", late, paceStep/paceOfOrg)
		}
		if _, key := b.orgKey(t, borealisOrg, "rules:write"); change(key) != 0 || change("X-API-Key: "+systemKey) != 0 {
			t.Error("others are slowed down")
		}
	}, tenants)
}

// TestOnlyTheSocketIsNotPaced: somebody whose id is that of the control socket is no more than he was.
func TestOnlyTheSocketIsNotPaced(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		who := principal{Principal: operator.Principal}
		who.Kind = access.KindUser
		c := &call{r: newRequest(t, "POST", "/rules"), who: who, operation: &endpoint{route: &route{method: "POST", path: "/rules", permission: permitRulesWrite}}}
		start := time.Now()
		for range 2 {
			if err := b.server.pace(c, paceBurst); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(start) == 0 {
			t.Error("he is not paced")
		}
	}, tenants)
}

// TestRefusedChangesCostTheCredentialNothing: who is refused because others of his organization change too much has all his
// own changes left once they are done.
func TestRefusedChangesCostTheCredentialNothing(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, key := b.orgKey(t, auroraOrg, "rules:write")
		p, steps := b.whoIs(t, key), int(longestPace/paceStep)
		b.server.paces.organizations.Wait(auroraOrg, paceOfOrg*(paceBurst+steps), time.Hour, time.Now())
		for range 2 * steps {
			if got := b.net.do(t, "POST", "/rules", key, `{}`); got.StatusCode != http.StatusTooManyRequests {
				t.Fatalf("%d %s", got.StatusCode, got.body)
			}
		}
		if wait, ok := b.server.paces.credentials.Wait(p.Kind+" "+p.ID, paceBurst, 0, time.Now()); !ok {
			t.Errorf("the credential has spent what it was refused, and would wait %v", wait)
		}
	}, tenants)
}
