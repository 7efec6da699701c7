package claim

import (
	"crypto/subtle"
	"time"
)

// NetworkWindow is how long the code is shown to the network once somebody at
// the gateway has asked for it.
const NetworkWindow = 10 * time.Minute

// hiddenCode is what who may not see the code is told instead.
const hiddenCode = "its code is on the attached screen, and roomgate claim shows it on the gateway; roomgate claim --show shows it here too, for ten minutes"

// ShowNetwork lets the network see the code for so long from now; 0 ends that. A
// restart ends it as well.
func (cl *Claim) ShowNetwork(d time.Duration) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.shownUntil = time.Now().Add(d)
}

// NetworkStatus is Status for who asks from the network, where everybody does:
// without the code, unless somebody at the gateway wants it to be shown or the
// caller brings it, as the phone that has scanned it.
func (cl *Claim) NetworkStatus(brought string) Status {
	g := cl.Status()
	if g.State != Waiting {
		return g
	}
	cl.mu.Lock()
	shown := time.Now().Before(cl.shownUntil)
	cl.mu.Unlock()
	if shown || subtle.ConstantTimeCompare([]byte(brought), []byte(g.Code)) == 1 {
		return g
	}
	g.Code, g.URL, g.AtCloud, g.ExpiresS, g.Reason = "", "", false, 0, hiddenCode
	return g
}

// Enrolment is the secret by which the gateway gets a certificate from its cloud; nil: the
// claim has brought none.
func (cl *Claim) Enrolment() []byte {
	if cl.off() != "" {
		return nil
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.secrets.Enrolment
}
