package authority

import (
	"bytes"
	"crypto/x509"
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
	Secret []byte   `json:"secret,omitempty"`       // of its claim
	Next   [][]byte `json:"next_secrets,omitempty"` // of claims by which nobody has asked yet, the newest last
	Of     []byte   `json:"of,omitempty"`           // the last request, by cloud.OfRequest
	Leaf   []byte   `json:"certificate,omitempty"`  // the answer, in DER
	Issued []held   `json:"issued,omitempty"`       // certificates that may still be good
}

// held is a certificate that may still be good.
type held struct {
	Serial string    `json:"serial"`
	Until  time.Time `json:"until"`
}

func (a *Authority) file(gateway string) string {
	return filepath.Join(a.dir, gatewayDir, gateway+".json")
}

func (a *Authority) read(gateway string) (s stored, there bool, err error) {
	if !cloud.ValidGateway(gateway) {
		return s, false, fmt.Errorf("%q is no gateway's id: want letters, digits, dots, dashes and underscores", gateway)
	}
	there, err = readJSON(a.file(gateway), &s)
	s.ID = gateway
	return s, there, err
}

// change reads a gateway, and stores what do makes of it.
func (a *Authority) change(gateway string, do func(s *stored, there bool) error) error {
	return a.alone(func() error {
		s, there, err := a.read(gateway)
		if err == nil {
			err = do(&s, there)
		}
		if err != nil {
			return err
		}
		return writeJSON(a.file(gateway), s)
	})
}

// mostClaims is how many claims of a gateway may wait for its word: who claims twice does not know which
// one it takes.
const mostClaims = 8

// Admit makes the secret that a claim brings to a gateway, by which it asks for a
// certificate. Until it has asked by that, those of earlier claims hold.
func (a *Authority) Admit(gateway string) (secret []byte, err error) {
	secret = cloud.NewEnrolment()
	return secret, a.change(gateway, func(s *stored, _ bool) error {
		s.Next = append(s.Next, secret)
		s.Next = s.Next[max(0, len(s.Next)-mostClaims):]
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
		taken := slices.IndexFunc(s.Next, func(secret []byte) bool { return request.Open(secret, topics.Up(cloud.LevelEnrol), &asked) == nil })
		if taken >= 0 {
			s.Secret, s.Next, s.Of, s.Leaf, s.Revoked = s.Next[taken], nil, nil, nil, time.Time{}
		} else if err := request.Open(s.Secret, topics.Up(cloud.LevelEnrol), &asked); err != nil {
			return fmt.Errorf("gateway %s: %w", gateway, err)
		}
		said, err := a.answer(s, asked.Request)
		if err != nil {
			return err
		}
		answer, err = cloud.SealEnrolled(s.Secret, topics.Down(cloud.LevelEnrol), said)
		return err
	})
	return answer, err
}

// answer certifies a request, unless that was done or must not be.
func (a *Authority) answer(s *stored, der []byte) (said cloud.EnrolAnswer, err error) {
	said.Of = cloud.OfRequest(der)
	if !s.Revoked.IsZero() {
		said.Code, said.Reason = cloud.EnrolRevoked, "the certificates of this gateway were revoked on "+s.Revoked.Format(time.DateOnly)+": release it and claim it again"
		return said, nil
	}
	if bytes.Equal(s.Of, said.Of) {
		if c, err := x509.ParseCertificate(s.Leaf); err == nil && a.now().Before(c.NotAfter) {
			said.Chain = [][]byte{s.Leaf, a.root.Raw}
			return said, nil
		}
	}
	r, err := cloud.CheckRequest(s.ID, der)
	if err != nil {
		said.Code, said.Reason = cloud.EnrolInvalid, err.Error()
		return said, nil
	}
	c, err := a.certify(s.ID, r.PublicKey)
	if err != nil {
		return said, err
	}
	s.Of, s.Leaf, s.Serial, s.Until = said.Of, c.Raw, c.SerialNumber.Text(16), c.NotAfter
	s.Issued = slices.DeleteFunc(s.Issued, func(h held) bool { return h.Until.Before(a.now()) })
	s.Issued = append(s.Issued, held{s.Serial, s.Until})
	said.Chain = [][]byte{c.Raw, a.root.Raw}
	return said, nil
}

// Gateways are all, by their ids.
func (a *Authority) Gateways() ([]Gateway, error) {
	all := []Gateway{}
	files, err := os.ReadDir(filepath.Join(a.dir, gatewayDir))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || !cloud.ValidGateway(id) {
			continue
		}
		s, _, e := a.read(id)
		err = errors.Join(err, e)
		all = append(all, s.Gateway)
	}
	slices.SortFunc(all, func(x, y Gateway) int { return strings.Compare(x.ID, y.ID) })
	return all, err
}
