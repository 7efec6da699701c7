package doctor

import (
	"strings"
	"testing"

	"roomgate/agent/health"
	"roomgate/cloud"
)

// The certificate that the gateway gets from its cloud is named with what is wrong with it.
func TestCloudCertificate(t *testing.T) {
	for state, want := range map[string]State{"good": OK, "renewing": OK, "wanted": Warn, "kept": Warn, "revoked": Fail, "ended": Fail, "not_yet_valid": Fail, "refused": Fail} {
		c := &health.Certificate{State: state, Seen: "it is " + state}
		if want != OK {
			c.Fix = "mend it"
		}
		x := &examination{}
		x.Building = &Building{}
		x.Building.CloudCertificate = c
		found := cloudCertificate(x.Building)
		if len(found) != 1 || found[0].State != want || !strings.Contains(found[0].Seen, state) || found[0].Fix != c.Fix {
			t.Errorf("%s: %+v", state, found)
		}
		if got := cloudFix(x, &health.Trouble{Cause: string(cloud.CauseCertificate), Fix: "set cloud.client_certificate"}); strings.Contains(got, "client_certificate") != (want == OK) {
			t.Errorf("%s: what is to be done is %q", state, got)
		}
	}
	if found := cloudCertificate(nil); found != nil {
		t.Errorf("where there is none: %+v", found)
	}
}
