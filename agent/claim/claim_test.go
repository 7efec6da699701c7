package claim

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/store"
)

func TestClaimedOnceAndForGood(t *testing.T) {
	inTime(t, func(r *rig) {
		code, changed := r.want("new", Waiting).Code, r.Changed()
		r.wantLogin("new", "/")
		if why := r.bring("m1", code, acmeClaim); why != nil {
			t.Fatalf("refused: %v", why)
		}
		select {
		case <-changed:
		default:
			t.Error("nobody is told that the claim is another")
		}
		other := backend.Claim{OrganizationID: "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec1", Organization: "Other"}
		for range 2 {
			r.wantLogin("claimed", "roomgate-test/a-secret-of-test")
			g := r.want("claimed", Done)
			goldentest.Values(t, "claimed", goldentest.Pairs{"g.Organization": {g.Organization, "Acme"},
				"OrganizationID": {g.OrganizationID, acme}, "r.Organization()": {r.Organization(), acme},
				"ClaimedAt is zero": {g.ClaimedAt.IsZero(), false}, "Code": {g.Code, ""}, "URL": {g.URL, ""}})
			if why := r.bring("m1", code, acmeClaim); why != nil {
				t.Errorf("the same again: %v", why)
			}
			if why := r.bring("m2", code, other); why == nil || why.Code != problem.Conflict || strings.Contains(why.Message, "Acme") {
				t.Errorf("another one: %v", why)
			}
			r.open()
		}
		if told := r.told(); !slices.Equal(told, []string{"gatewayClaimed"}) || r.logins != 1 || len(r.organizations) != 1 || r.organizations[acme] != "Acme" {
			t.Errorf("told %q, %d new logins, organizations %q", told, r.logins, r.organizations)
		}
	})
}

// The secret by which the gateway gets a certificate comes with the claim, lies sealed, and goes with it.
func TestEnrolmentComesWithTheClaim(t *testing.T) {
	inTime(t, func(r *rig) {
		claim := acmeClaim
		claim.Enrolment = []byte("short")
		if why := r.bring("m1", r.Status().Code, claim); why == nil || why.Field != "enrolment" {
			t.Errorf("a short one: %v", why)
		}
		claim.Enrolment = cloud.NewEnrolment()
		if why := r.bring("m2", r.Status().Code, claim); why != nil {
			t.Fatal(why)
		}
		for range 2 {
			if !bytes.Equal(r.Enrolment(), claim.Enrolment) {
				t.Error("it is another one")
			}
			r.open()
		}
		if raw, err := os.ReadFile(r.path); err != nil || bytes.Contains(raw, []byte(base64.StdEncoding.EncodeToString(claim.Enrolment))) {
			t.Errorf("it lies open in the database, %v", err)
		}
		if err := r.Release(t.Context(), "me"); err != nil || r.Enrolment() != nil {
			t.Errorf("after the release: %v", err)
		}
	})
}

func TestReleasedAndClaimedAgain(t *testing.T) {
	inTime(t, func(r *rig) {
		used := r.Status().Code
		if err := r.Release(t.Context(), "me"); err != nil || r.Status().Code != used || r.logins != 0 {
			t.Errorf("nobody's is released: %v, %d new logins", err, r.logins)
		}
		r.bring("m1", used, acmeClaim)
		if err := r.Release(t.Context(), "me"); err != nil || r.logins != 2 {
			t.Fatalf("released: %v, %d new logins", err, r.logins)
		}
		g := r.want("released", Waiting)
		r.wantLogin("released", "/")
		if g.Code == used || r.Organization() != "" {
			t.Errorf("it shows %s after %s and belongs to %q", g.Code, used, r.Organization())
		}
		if why := r.bring("m2", used, acmeClaim); why == nil || why.Code != problem.Forbidden {
			t.Errorf("with the used code: %v", why)
		}
		if why := r.bring("m3", g.Code, backend.Claim{OrganizationID: acme, Organization: "Acme Ltd"}); why != nil || r.logins != 2 {
			t.Errorf("again, without a login of its own: %v, %d new logins", why, r.logins)
		}
		if err := r.db.Update(t.Context(), Forget); err != nil {
			t.Fatal(err)
		}
		r.open()
		r.want("forgotten", Waiting)
	})
}

// TestWhatCannotBeStoredIsNotAnswered: then it comes again.
func TestWhatCannotBeStoredIsNotAnswered(t *testing.T) {
	inTime(t, func(r *rig) {
		code := r.Status().Code
		sealed, err := backend.SealClaim("test", code, acmeClaim)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(sealed)
		e := cloud.Envelope{ID: "m1", Data: data}
		for _, r.refused = range []error{store.ErrFull, errors.New("broken"), problem.New(problem.Full, "", "no room")} {
			if err := r.Take(t.Context(), e); !errors.Is(err, r.refused) || len(r.receipts) > 0 {
				t.Errorf("%v: %v, receipts %v", r.refused, err, r.receipts)
			}
			r.want("not stored", Waiting)
		}
		r.refused = problem.New(problem.Conflict, "organization_id", "is one too many")
		if why := r.bring("m2", code, acmeClaim); why == nil || why.Code != problem.Conflict {
			t.Errorf("one organization too many: %v", why)
		}
		r.refused = nil
		if why := r.bring("m3", code, acmeClaim); why != nil || len(r.told()) != 1 {
			t.Errorf("then: %v, told %q", why, r.told())
		}
	})
}

func TestCodesChangeAndEnd(t *testing.T) {
	inTime(t, func(r *rig) {
		first := r.Status()
		if first.ExpiresS != int64(codeShown/time.Second) {
			t.Errorf("shown for %d s", first.ExpiresS)
		}
		time.Sleep(codeShown - time.Second)
		if now := r.Status(); now.Code != first.Code || now.ExpiresS != 1 {
			t.Errorf("%+v after %+v", now, first)
		}
		time.Sleep(time.Second)
		second := r.Status().Code
		time.Sleep(codeShown)
		third := r.Status().Code
		if second == first.Code || third == second {
			t.Errorf("codes %s, %s and %s", first.Code, second, third)
		}
		if why := r.bring("m1", first.Code, acmeClaim); why == nil || why.Code != problem.Forbidden {
			t.Errorf("with the first: %v", why)
		}
		if why := r.bring("m2", second, acmeClaim); why != nil {
			t.Errorf("with the one before: %v", why)
		}
	})
}

func TestWrongCodesAreLimited(t *testing.T) {
	inTime(t, func(r *rig) {
		code := r.Status().Code
		for i := range wrongCodes.Burst {
			if why := r.bring(fmt.Sprint("w", i), cloud.NewCode(), acmeClaim); why == nil || why.Code != problem.Forbidden {
				t.Fatalf("%d: %v", i, why)
			}
		}
		if why := r.bring("more", code, acmeClaim); why == nil || why.Code != problem.Unavailable || !strings.Contains(why.Message, "try again in") {
			t.Errorf("after too many: %v", why)
		}
		time.Sleep(wrongCodes.Every)
		if why := r.bring("later", r.Status().Code, acmeClaim); why != nil {
			t.Errorf("later: %v", why)
		}
		for i := range wrongCodes.Burst { // right ones are not counted
			if err := r.Release(t.Context(), "me"); err != nil {
				t.Fatal(err)
			}
			if why := r.bring(fmt.Sprint("r", i), r.Status().Code, acmeClaim); why != nil {
				t.Errorf("right code %d: %v", i, why)
			}
		}
	})
}

func TestClaimsThatCannotBeUsed(t *testing.T) {
	inTime(t, func(r *rig) {
		for i, data := range []string{`{}`, `{"sealed":"!"}`, `{"sealed":7}`, `{"sealed":""}`} {
			if why := r.send(fmt.Sprint("d", i), data); why == nil || why.Code != problem.Invalid || why.Field != "sealed" {
				t.Errorf("%s: %v", data, why)
			}
		}
		for field, claim := range map[string]backend.Claim{
			"organization_id": {OrganizationID: "acme", Organization: "Acme"},
			"organization":    {OrganizationID: acme, Organization: " "},
			"username":        {OrganizationID: acme, Organization: "Acme", Password: "p"},
			"password":        {OrganizationID: acme, Organization: "Acme", Username: "u", Password: "p\n"},
		} {
			if why := r.bring(field, r.Status().Code, claim); why == nil || why.Code != problem.Invalid || why.Field != field {
				t.Errorf("%s: %v", field, why)
			}
		}
		r.want("after all of them", Waiting)
	})
}

func TestACopiedCardIsNotClaimed(t *testing.T) {
	inTime(t, func(r *rig) {
		code := r.Status().Code
		r.bring("m1", code, acmeClaim)
		r.keys = r.newKeys()
		r.open()
		g := r.want("copied", Waiting)
		r.wantLogin("copied", "/")
		if g.Code == code || !strings.Contains(r.log.String(), "claim the gateway again") {
			t.Errorf("the copy shows %s and logs %s", g.Code, &r.log)
		}
		if why := r.bring("m2", g.Code, acmeClaim); why != nil {
			t.Errorf("claimed again: %v", why)
		}
	})
}

func TestWhoIsToBeClaimed(t *testing.T) {
	const page, own = "https://rooms.example.com/claim", "http://192.0.2.7:8081/claim"
	password := func() (string, error) { return "secret", nil }
	for _, c := range []struct {
		name             string
		cloud            Settings
		page             string
		state, link, who string
	}{
		{"no cloud", Settings{}, own, Off, "", "/"},
		{"no user", Settings{URL: "mqtt://cloud"}, "", Waiting, "", "/"},
		{"no page of the cloud", Settings{URL: "mqtt://cloud"}, own, Waiting, own + "?code=CODE&gateway=test", "/"},
		{"a user of its own", Settings{URL: "mqtt://cloud", Username: "test", Password: password}, own, Off, "", "test/secret"},
		{"a certificate of its own", Settings{URL: "mqtts://cloud", Certificate: true}, own, Off, "", "/"},
		{"a user of the fleet", Settings{URL: "mqtt://cloud", Username: "fleet", Password: password, Page: page}, own,
			Waiting, page + "?code=CODE&gateway=test", "fleet/secret"},
		{"a page with a query", Settings{URL: "mqtt://cloud", Page: page + "?site=3"}, own, Waiting, page + "?code=CODE&gateway=test&site=3", "/"},
	} {
		b := &Claim{o: Options{Cloud: c.cloud, ID: "test", Online: func() bool { return false }, Page: func() string { return c.page }}}
		g := b.Status()
		if g.State != c.state || strings.ReplaceAll(g.URL, g.Code, "CODE") != c.link && g.Code != "" || (g.State == Off) != (g.Reason != "") || b.Organization() != "" {
			t.Errorf("%s: %+v", c.name, g)
		}
		(&rig{T: t, Claim: b}).wantLogin(c.name, c.who)
	}
}
