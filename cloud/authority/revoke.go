package authority

import (
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"time"
)

// taken is a certificate that was taken back.
type taken struct {
	Gateway string    `json:"gateway_id"`
	Serial  string    `json:"serial,omitempty"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"`
}

const (
	// keptTaken is how long a certificate that was taken back stays in the list after its end: a clock that is
	// wrong makes it good again for nobody.
	keptTaken = 365 * 24 * time.Hour
	// listBackdated lets a list be good at once for a broker whose clock is behind, or if the authority's was ahead.
	listBackdated = 12 * time.Hour
)

// Revoke takes back all certificates of a gateway that may still be good, and all claims by which
// it could ask for another one, until it is claimed again. The broker has to get the new list.
func (a *Authority) Revoke(gateway string) error {
	return a.alone(func() error {
		s, there, err := a.read(gateway)
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("gateway %s: %w", gateway, ErrUnknown)
		}
		now := a.now().Truncate(time.Second)
		s.takeBack(now)
		// The gateway is first: whatever ends this, it gets no other certificate.
		if err := writeJSON(a.file(gateway), s); err != nil {
			return err
		}
		all, err := a.noted()
		if err != nil {
			return err
		}
		return a.note(s.taken(a, all), now)
	})
}

// takeBack ends the claims of a gateway and its certificates.
func (s *stored) takeBack(now time.Time) {
	if s.Secret != nil {
		s.Gone = append(s.Gone, s.Secret)
	}
	for _, w := range s.Next {
		s.Gone = append(s.Gone, w.Secret)
	}
	s.Gone = s.Gone[max(0, len(s.Gone)-mostClaims-1):]
	s.Secret, s.Next, s.Last = nil, nil, time.Time{}
	if s.Revoked.IsZero() {
		s.Revoked = now
	}
	for i := range s.Issued {
		if s.Issued[i].Revoked.IsZero() {
			s.Issued[i].Revoked = now
		}
		s.Issued[i].Of, s.Issued[i].Leaf = nil, nil
	}
}

// taken adds what was taken back of a gateway to all that was.
func (s *stored) taken(a *Authority, all []taken) []taken {
	add := func(t taken) {
		if !slices.ContainsFunc(all, func(o taken) bool { return o.Gateway == t.Gateway && o.Serial == t.Serial }) {
			all = append(all, t)
		}
	}
	for _, h := range s.Issued {
		if !h.Revoked.IsZero() {
			add(taken{s.ID, h.Serial, h.Revoked, h.Until})
		}
	}
	if !s.Revoked.IsZero() {
		add(taken{s.ID, "", s.Revoked, a.root.NotAfter}) // even if it has no certificate, it gets none
	}
	return all
}

// WriteList writes the list for brokers again, by what was noted and by the gateways' files.
func (a *Authority) WriteList() error {
	return a.alone(func() error {
		all, err := a.noted()
		if err != nil {
			return err
		}
		return a.note(all, a.now())
	})
}

// note stores what was taken back, and writes the list.
func (a *Authority) note(all []taken, now time.Time) error {
	all = slices.DeleteFunc(all, func(t taken) bool { return t.Until.Add(keptTaken).Before(now) })
	if err := writeJSON(filepath.Join(a.dir, noteFile), all); err != nil {
		return err
	}
	return a.writeList(all)
}

// noted is what was taken back. If its file is lost, the gateways' files have the same.
func (a *Authority) noted() (all []taken, err error) {
	there, err := readJSON(filepath.Join(a.dir, noteFile), &all)
	if err != nil {
		return nil, fmt.Errorf("%w: move it away, and roomgate cloud ca crl %s makes it again by the gateways' files", err, a.dir)
	}
	if there {
		return all, nil
	}
	err = a.each(func(s stored) { all = s.taken(a, all) })
	return all, err
}

// writeList writes what brokers read. It never ends before the authority does: a broker
// refuses everybody by a list that has ended.
func (a *Authority) writeList(all []taken) error {
	now := a.now()
	list := &x509.RevocationList{Number: big.NewInt(now.UnixMilli()), ThisUpdate: now.Add(-listBackdated), NextUpdate: a.root.NotAfter}
	for _, t := range all {
		if t.Serial == "" {
			continue
		}
		serial, ok := new(big.Int).SetString(t.Serial, 16)
		if !ok {
			return fmt.Errorf("%s: %q is no serial", noteFile, t.Serial)
		}
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: serial, RevocationTime: t.At})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.root, a.key)
	if err != nil {
		return err
	}
	return write(filepath.Join(a.dir, ListFile), encode("X509 CRL", der), 0o644)
}

// Revoked are the gateways that get no certificate before they are claimed again, and since when. An error
// names the files that cannot be read; what the others say is there all the same.
func (a *Authority) Revoked() (map[string]time.Time, error) {
	all, err := a.noted()
	since := map[string]time.Time{}
	for _, t := range all {
		if _, known := since[t.Gateway]; known {
			continue
		}
		s, _, wrong := a.read(t.Gateway)
		err = errors.Join(err, wrong)
		since[t.Gateway] = s.Revoked
	}
	maps.DeleteFunc(since, func(_ string, at time.Time) bool { return at.IsZero() })
	return since, err
}
