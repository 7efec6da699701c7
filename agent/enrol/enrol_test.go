package enrol

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// The claim brings a secret, and the gateway has a certificate of its own.
func TestClaimedAndCertified(t *testing.T) {
	inTime(t, func(r *rig) {
		if r.At(cloud.Trouble{}) != first || r.Status() != nil {
			t.Errorf("before the claim it goes to %s with %+v", r.At(cloud.Trouble{}), r.Status())
		}
		r.run(r.claim)
		c := r.shown()
		if c == nil {
			t.Fatal("it shows none")
		}
		if got := fmt.Sprint(c.Subject, c.URIs, c.ExtKeyUsage, time.Until(c.NotAfter)); got != "CN=test [urn:roomgate:gateway:test] [clientAuth] 2160h0m0s" {
			t.Errorf("it shows %s", got)
		}
		r.want("certified", Good)
		r.wantTold("cloudCertified")
		if r.renewed != 1 || r.tried != 1 || r.At(cloud.Trouble{}) != brokers {
			t.Errorf("logged in again %d times, tried %d, goes to %s", r.renewed, r.tried, r.At(cloud.Trouble{}))
		}
		r.open()
		if again := r.shown(); again == nil || !again.Equal(c) {
			t.Error("a restart has lost the certificate")
		}
		raw, err := os.ReadFile(r.path)
		if err != nil || strings.Contains(string(raw), "urn:roomgate") {
			t.Errorf("the certificate lies open in the database, %v", err)
		}
		r.secret = nil // released
		r.run(r.claimed.Wake)
		if r.shown() != nil || r.Status() != nil || r.At(cloud.Trouble{}) != first {
			t.Error("a released gateway shows a certificate")
		}
	})
}

// Renewed at two thirds, and the one before goes on until the broker takes the new one.
func TestRenewed(t *testing.T) {
	inTime(t, func(r *rig) {
		r.run(r.claim)
		old := r.shown()
		r.run(func() {
			r.sleep(59 * 24 * time.Hour)
			if r.asked != 1 || !r.shown().Equal(old) {
				t.Errorf("after 59 days it has asked %d times", r.asked)
			}
			r.refuses = cloud.CauseUnreachable
			r.sleep(6 * 24 * time.Hour)
			if r.asked != 2 || !r.shown().Equal(old) {
				t.Errorf("after 65 days it has asked %d times, and shows the old one: %v", r.asked, r.shown().Equal(old))
			}
			r.want("the broker is away", Renewing)
			r.refuses = ""
			r.sleep(2 * time.Hour)
		})
		if now := r.shown(); now.Equal(old) || r.renewed != 2 {
			t.Errorf("not renewed, %d log-ins", r.renewed)
		}
		r.want("renewed", Good)
		r.wantTold("cloudCertified", "cloudCertified")
	})
}

// A clock that is not trusted renews nothing, and says of no certificate that it is over.
func TestClockThatIsNotTrusted(t *testing.T) {
	inTime(t, func(r *rig) {
		r.run(r.claim)
		r.clock = clock.New(clock.Options{Mode: clock.Never})
		r.open()
		r.run(func() { r.sleep(200 * 24 * time.Hour) })
		if r.asked != 1 || r.At(cloud.Trouble{}) != brokers {
			t.Errorf("asked %d times, goes to %s", r.asked, r.At(cloud.Trouble{}))
		}
		r.want("not trusted", Good)
	})
}

// A new certificate that the broker does not take is told, and the one before goes on.
func TestNewOneIsRefused(t *testing.T) {
	inTime(t, func(r *rig) {
		r.run(r.claim)
		old, good := r.shown(), r.believes
		r.run(func() {
			_, r.believes = newAuthority(t) // the broker has lost its list
			r.sleep(65 * 24 * time.Hour)
			r.want("refused", Kept)
			if !r.shown().Equal(old) || r.renewed != 1 {
				t.Error("the old one does not go on")
			}
			asked := r.asked
			r.sleep(24 * time.Hour)
			if more := r.asked - asked; more < 20 || more > 50 {
				t.Errorf("asked %d times in a day", more)
			}
			r.believes = good
			r.sleep(2 * time.Hour)
		})
		r.want("then", Good)
		if r.shown().Equal(old) {
			t.Error("not renewed")
		}
	})
}

// Faults of the certificate in use, each by its name: over, not valid yet, of another authority.
func TestWrongCertificates(t *testing.T) {
	for state, spoil := range map[string]func(r *rig){
		Ended:       func(r *rig) { r.deaf = true; r.sleep(91 * 24 * time.Hour) },
		NotYetValid: func(r *rig) { r.clock.Move(-48 * time.Hour) },
		Refused:     func(r *rig) { r.deaf = true; _, r.believes = newAuthority(r.T) },
	} {
		t.Run(state, func(t *testing.T) {
			inTime(t, func(r *rig) {
				r.run(r.claim)
				good, old := r.believes, r.shown()
				var at string
				r.run(func() {
					spoil(r)
					pair, _ := r.Show(nil)
					last := r.judge(pair)
					at = r.At(last)
					r.sleep(time.Hour)
				})
				r.want("spoiled", state)
				r.wantTold("cloudCertified", "cloudCertificateWrong")
				if want := map[string]string{Ended: first, NotYetValid: brokers, Refused: first}[state]; at != want {
					t.Errorf("it goes to %s, want %s", at, want)
				}
				if s := r.Status(); s.Fix == "" || s.Seen == "" {
					t.Errorf("%+v", s)
				}
				if state == NotYetValid {
					return
				}
				r.believes, r.deaf = good, false
				r.run(func() { r.sleep(2 * time.Hour) })
				r.want("mended", Good)
				if r.At(cloud.Trouble{}) != brokers || state == Ended && r.shown().Equal(old) {
					t.Errorf("it goes to %s", r.At(cloud.Trouble{}))
				}
			})
		})
	}
}

// Revoked is said, no more is asked for, and a new claim brings another certificate.
func TestRevoked(t *testing.T) {
	inTime(t, func(r *rig) {
		r.run(r.claim)
		if err := r.ca.Revoke("test"); err != nil {
			t.Fatal(err)
		}
		r.run(func() {
			r.At(cloud.Trouble{Cause: cloud.CauseCertificate, Error: "revoked certificate", At: time.Now()})
			r.refuses = cloud.CauseCertificate
			r.sleep(time.Minute)
			r.want("revoked", Revoked)
			asked := r.asked
			r.sleep(48 * time.Hour)
			if r.asked != asked || asked != 2 {
				t.Errorf("it has asked %d times, then %d", asked, r.asked)
			}
		})
		r.wantTold("cloudCertified", "cloudCertificateWrong", "cloudCertificateRefused")
		r.refuses = ""
		r.run(r.claim)
		r.want("claimed again", Good)
	})
}

// The cloud that does not answer is asked ever more seldom, and at once with the next connection.
func TestAsksAreBounded(t *testing.T) {
	inTime(t, func(r *rig) {
		r.deaf = true
		r.run(func() {
			r.claim()
			r.sleep(24 * time.Hour)
		})
		if r.asked < 20 || r.asked > 60 {
			t.Errorf("asked %d times in a day", r.asked)
		}
		r.want("deaf", Wanted)
		r.away, r.deaf = true, false
		r.run(func() {
			r.sleep(24 * time.Hour)
			r.away = false
			r.Up()
		})
		r.want("connected", Good)
	})
}

// Nobody but the cloud places a certificate.
func TestForged(t *testing.T) {
	inTime(t, func(r *rig) {
		r.deaf = true
		r.run(r.claim)
		s := r.snapshot()
		request, err := cloud.SealEnrolled(r.secret, cloud.Topics{Gateway: "test"}.Up(cloud.LevelEnrol), cloud.EnrolRequest{Request: s.Next.Request})
		if err != nil {
			t.Fatal(err)
		}
		good, err := r.ca.Answer("test", request)
		if err != nil {
			t.Fatal(err)
		}
		seal := func(secret []byte, gateway string, a cloud.EnrolAnswer) cloud.Enrolled {
			sealed, err := cloud.SealEnrolled(secret, cloud.Topics{Gateway: gateway}.Down(cloud.LevelEnrol), a)
			if err != nil {
				t.Fatal(err)
			}
			return sealed
		}
		var said cloud.EnrolAnswer
		if err := good.Open(r.secret, cloud.Topics{Gateway: "test"}.Down(cloud.LevelEnrol), &said); err != nil {
			t.Fatal(err)
		}
		stranger := cloud.EnrolAnswer{Of: cloud.OfRequest([]byte("another")), Chain: said.Chain}
		for name, c := range map[string]struct {
			m    cloud.Enrolled
			code problem.Code
		}{
			"of another secret":  {seal(cloud.NewEnrolment(), "test", said), problem.Forbidden},
			"of another gateway": {seal(r.secret, "other", said), problem.Forbidden},
			"nothing":            {cloud.Enrolled{}, problem.Forbidden},
			"its own request":    {request, problem.Forbidden},
			"of another request": {seal(r.secret, "test", stranger), problem.Conflict},
			"no certificate":     {seal(r.secret, "test", cloud.EnrolAnswer{Of: said.Of, Chain: [][]byte{{1}}}), problem.Invalid},
			"the authority's":    {seal(r.secret, "test", cloud.EnrolAnswer{Of: said.Of, Chain: said.Chain[1:]}), problem.Invalid},
		} {
			if why := r.bring(name, c.m); why == nil || why.Code != c.code {
				t.Errorf("%s: %v, want %s", name, why, c.code)
			}
		}
		if why := r.bring("good", good); why != nil {
			t.Errorf("the good one: %v", why)
		}
		if why := r.bring("again", seal(r.secret, "test", stranger)); why == nil || why.Code != problem.Conflict {
			t.Errorf("later: %v", why)
		}
	})
}

// A copied card shows nothing.
func TestACopiedCardShowsNoCertificate(t *testing.T) {
	inTime(t, func(r *rig) {
		r.run(r.claim)
		var err error
		if r.keys, err = auth.NewKeys(auth.NewSecret()); err != nil {
			t.Fatal(err)
		}
		r.open()
		if r.shown() != nil || !strings.Contains(r.log.String(), "belongs to other hardware") {
			t.Errorf("it shows one, and logs %s", &r.log)
		}
		if err := r.db.Update(t.Context(), Forget); err != nil {
			t.Fatal(err)
		}
	})
}

// Killed after each transaction of a renewal, the gateway shows a certificate that the broker takes, and
// gets the new one: what is tried is a copy of the database as it was then.
func TestKilledAtEachStep(t *testing.T) {
	inTime(t, func(r *rig) {
		r.run(r.claim)
		old := r.shown()
		var copies []string
		keep := func() {
			at := filepath.Join(t.TempDir(), "copy.db")
			if err := copyFile(r.path, at); err != nil {
				t.Fatal(err)
			}
			copies = append(copies, at)
		}
		send, try := r.o.Send, r.o.Try
		r.o.Send = func(ctx context.Context, data any) bool {
			keep() // the key is stored, and nobody was asked
			defer keep()
			return send(ctx, data)
		}
		r.o.Try = func(ctx context.Context, url string, pair *pairOf) (cloud.Trouble, bool) {
			keep() // the answer is stored
			return try(ctx, url, pair)
		}
		r.o.Renew = func() { r.renewed++; keep() }
		r.run(func() { r.sleep(66 * 24 * time.Hour) })
		if len(copies) != 4 || r.shown().Equal(old) {
			t.Fatalf("%d copies", len(copies))
		}
		for i, at := range copies {
			r.path = at
			r.open()
			if c := r.shown(); c == nil || i < 3 && !c.Equal(old) {
				t.Errorf("killed at step %d it shows %v", i, c)
			}
			r.run(func() { r.sleep(2 * time.Hour) })
			if r.shown().Equal(old) {
				t.Errorf("killed at step %d it gets no new certificate: %+v", i, r.Status())
			}
		}
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// What cannot be stored is not answered: then it comes again.
func TestWhatCannotBeStoredIsNotAnswered(t *testing.T) {
	inTime(t, func(r *rig) {
		r.deaf = true
		r.run(r.claim)
		request, err := cloud.SealEnrolled(r.secret, cloud.Topics{Gateway: "test"}.Up(cloud.LevelEnrol), cloud.EnrolRequest{Request: r.snapshot().Next.Request})
		if err != nil {
			t.Fatal(err)
		}
		good, err := r.ca.Answer("test", request)
		if err != nil {
			t.Fatal(err)
		}
		answer := r.o.Receipts.Answer
		r.o.Receipts.Answer = func(*store.Tx, string) error { return store.ErrFull }
		if err := r.Take(t.Context(), envelope("m1", good)); err == nil || len(r.receipts) > 0 || len(r.snapshot().Next.Chain) > 0 {
			t.Errorf("%v, receipts %v", err, r.receipts)
		}
		r.o.Receipts.Answer = answer
		if why := r.bring("m1", good); why != nil {
			t.Error(why)
		}
	})
}
