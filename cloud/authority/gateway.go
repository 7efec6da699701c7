package authority

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"roomgate/cloud"
)

// Gateway is one that gets certificates here.
type Gateway struct {
	ID      string    `json:"gateway_id"`
	Serial  string    `json:"serial,omitempty"` // of its last certificate, hexadecimal; empty: none was asked for yet
	Until   time.Time `json:"until,omitzero"`   // when that ends
	Revoked time.Time `json:"revoked,omitzero"` // when its certificates were taken back; zero: they were not
}

// stored is a gateway's file.
type stored struct {
	Gateway
	Secret []byte    `json:"secret,omitempty"`          // of its claim
	Next   []waiting `json:"next_secrets,omitempty"`    // of claims by which nobody has asked yet, the newest last
	Gone   [][]byte  `json:"revoked_secrets,omitempty"` // of claims that were taken back: who asks by one hears that
	Issued []held    `json:"issued,omitempty"`          // certificates that may still be good, the newest last
	Last   time.Time `json:"last,omitzero"`             // when the last certificate was made
}

// waiting is the secret of a claim by which nobody has asked yet.
type waiting struct {
	Secret []byte    `json:"secret"`
	At     time.Time `json:"at"`
}

// held is a certificate that may still be good.
type held struct {
	Serial  string    `json:"serial"`
	Until   time.Time `json:"until"`
	Revoked time.Time `json:"revoked,omitzero"`
	Of      []byte    `json:"of,omitempty"`          // its request, by cloud.OfRequest
	Leaf    []byte    `json:"certificate,omitempty"` // in DER; of the newest alone
}

const (
	// mostClaims is how many claims of a gateway may wait for its word: nobody knows which one it takes.
	mostClaims = 64
	// claimAge is how long a claim may lie at a broker before another one takes its place.
	claimAge = 30 * 24 * time.Hour
	// mostIssued is how many certificates of a gateway are known: one an hour for a month and more.
	mostIssued = 1000
	// mostLeaves is how many of them are given again to who asks again.
	mostLeaves = 16
	// mostBehind is how far a clock may be behind the one that made the last certificate.
	mostBehind = 24 * time.Hour
)

var (
	errWaiting = fmt.Errorf("%d claims wait for its word, and it may have taken any of them: revoke it with roomgate cloud ca revoke, and claim it again", mostClaims)
	errMany    = fmt.Errorf("has %d certificates that may be good: revoke it with roomgate cloud ca revoke, and claim it again", mostIssued)
)

func (a *Authority) file(gateway string) string {
	return filepath.Join(a.dir, gatewayDir, gateway+".json")
}

func (a *Authority) read(gateway string) (s stored, there bool, err error) {
	if !valid(gateway) {
		return s, false, fmt.Errorf("%q is no gateway's id: want letters, digits, dots, dashes and underscores", gateway)
	}
	there, err = readJSON(a.file(gateway), &s)
	s.ID = gateway
	return s, there, err
}

// change reads a gateway, and stores what do makes of it, if that is something else.
func (a *Authority) change(gateway string, do func(s *stored, there bool) error) error {
	return a.alone(func() error {
		s, there, err := a.read(gateway)
		if err != nil {
			return err
		}
		before, err := json.Marshal(s)
		if err == nil {
			err = do(&s, there)
		}
		if err != nil {
			return err
		}
		if after, err := json.Marshal(s); there && err == nil && bytes.Equal(before, after) {
			return nil
		}
		return writeJSON(a.file(gateway), s)
	})
}

// Admit makes the secret that a claim brings to a gateway, by which it asks for a
// certificate. Until it has asked by that, those of earlier claims hold.
func (a *Authority) Admit(gateway string) (secret []byte, err error) {
	if !cloud.ValidGateway(gateway) {
		return nil, fmt.Errorf("%q is no gateway's id", gateway)
	}
	secret = cloud.NewEnrolment()
	return secret, a.change(gateway, func(s *stored, _ bool) error {
		now := a.now().Truncate(time.Second)
		if len(s.Next) >= mostClaims {
			if now.Sub(s.Next[0].At) < claimAge {
				return fmt.Errorf("gateway %s: %w", gateway, errWaiting)
			}
			s.Next = s.Next[1:]
		}
		s.Next = append(s.Next, waiting{secret, now})
		return nil
	})
}

// Answer is the data of down/enrol for that of up/enrol: a certificate, or why there is none.
// The same request is answered with the same certificate. What the gateway's claim has not
// sealed has no answer, but an error.
func (a *Authority) Answer(gateway string, request cloud.Enrolled) (answer cloud.Enrolled, err error) {
	topics := cloud.Topics{Gateway: gateway}
	err = a.change(gateway, func(s *stored, there bool) error {
		if !there {
			return fmt.Errorf("gateway %s: %w", gateway, ErrUnknown)
		}
		var asked cloud.EnrolRequest
		secret := s.opens(func(secret []byte) bool { return request.Open(secret, topics.Up(cloud.LevelEnrol), &asked) == nil })
		if secret == nil {
			return fmt.Errorf("gateway %s: %w", gateway, cloud.ErrEnrolment)
		}
		said, err := a.answer(s, asked.Request)
		if err != nil {
			return fmt.Errorf("gateway %s: %w", gateway, err)
		}
		answer, err = cloud.SealEnrolled(secret, topics.Down(cloud.LevelEnrol), said)
		return err
	})
	return answer, err
}

// opens is the secret that fits a request; nil: none does. That of a claim that waited is the gateway's from then on.
func (s *stored) opens(fits func(secret []byte) bool) []byte {
	if taken := slices.IndexFunc(s.Next, func(w waiting) bool { return fits(w.Secret) }); taken >= 0 {
		s.Secret, s.Next, s.Gone, s.Revoked = s.Next[taken].Secret, nil, nil, time.Time{}
		for i := range s.Issued { // the claim before has asked for these
			s.Issued[i].Of, s.Issued[i].Leaf = nil, nil
		}
		return s.Secret
	}
	for _, secret := range append([][]byte{s.Secret}, s.Gone...) {
		if secret != nil && fits(secret) {
			return secret
		}
	}
	return nil
}

// answer certifies a request, unless that was done or must not be.
func (a *Authority) answer(s *stored, der []byte) (said cloud.EnrolAnswer, err error) {
	said.Of = cloud.OfRequest(der)
	if !s.Revoked.IsZero() {
		said.Code, said.Reason = cloud.EnrolRevoked, "the certificates of this gateway were revoked on "+s.Revoked.Format(time.DateOnly)+": release it and claim it again"
		return said, nil
	}
	now := a.now()
	if now.Before(s.Last.Add(-mostBehind)) {
		return said, fmt.Errorf("the clock of this machine says %s, before its last certificate was made, %s: set the clock; if that one's clock was wrong, revoke the gateway and claim it again",
			now.Format(time.RFC3339), s.Last.Format(time.RFC3339))
	}
	if i := slices.IndexFunc(s.Issued, func(h held) bool { return bytes.Equal(h.Of, said.Of) && now.Before(h.Until) }); i >= 0 {
		if leaf := s.Issued[i].Leaf; leaf != nil {
			said.Chain = [][]byte{leaf, a.root.Raw}
		} else {
			said.Code, said.Reason = cloud.EnrolInvalid, "the certificate request was answered before others were: ask by another one"
		}
		return said, nil
	}
	r, err := cloud.CheckRequest(s.ID, der)
	if err != nil {
		said.Code, said.Reason = cloud.EnrolInvalid, err.Error()
		return said, nil
	}
	life := a.Life
	if life <= 0 {
		life = DefaultDays * 24 * time.Hour
	}
	c, err := a.certify(s.ID, cloud.GatewayURI(s.ID), life, r.PublicKey)
	if err == nil {
		err = s.hold(held{Serial: c.SerialNumber.Text(16), Until: c.NotAfter, Of: said.Of, Leaf: c.Raw}, now)
	}
	if err != nil {
		return said, err
	}
	said.Chain = [][]byte{c.Raw, a.root.Raw}
	return said, nil
}

// hold notes a certificate that was made. What has ended, or was taken back, makes room only where there is none, and one for one:
// a clock that is wrong for an hour forgets no certificate that is good.
func (s *stored) hold(h held, now time.Time) error {
	if len(s.Issued) >= mostIssued {
		room := slices.IndexFunc(s.Issued, func(h held) bool { return h.Until.Before(now) || !h.Revoked.IsZero() })
		if room < 0 {
			return errMany
		}
		s.Issued = slices.Delete(s.Issued, room, room+1)
	}
	s.Issued = append(s.Issued, h)
	for i := range max(0, len(s.Issued)-mostLeaves) {
		s.Issued[i].Leaf = nil
	}
	s.Serial, s.Until, s.Last = h.Serial, h.Until, now.Truncate(time.Second)
	return nil
}

// Gateways are all that can be read, by their ids. An error names the files of the others.
func (a *Authority) Gateways() ([]Gateway, error) {
	all := []Gateway{}
	err := a.each(func(s stored) { all = append(all, s.Gateway) })
	slices.SortFunc(all, func(x, y Gateway) int { return strings.Compare(x.ID, y.ID) })
	return all, err
}

// each calls do for each gateway whose file can be read.
func (a *Authority) each(do func(s stored)) error {
	files, err := os.ReadDir(filepath.Join(a.dir, gatewayDir))
	if err != nil {
		return err
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || !valid(id) {
			continue
		}
		s, _, wrong := a.read(id)
		if wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		do(s)
	}
	return err
}
