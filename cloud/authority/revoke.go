package authority

import (
	"crypto/rand"
	"crypto/x509"
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

// Revoke takes back all certificates of a gateway that may still be good, and gives it no other
// one until it is claimed again. The broker has to get the new list.
func (a *Authority) Revoke(gateway string) error {
	return a.alone(func() error {
		s, there, err := a.read(gateway)
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("gateway %s: %w", gateway, ErrUnknown)
		}
		all, err := a.noted()
		if err != nil {
			return err
		}
		now := a.now().Truncate(time.Second)
		for _, h := range s.Issued {
			if !slices.ContainsFunc(all, func(t taken) bool { return t.Serial == h.Serial }) {
				all = append(all, taken{gateway, h.Serial, now, h.Until})
			}
		}
		all = slices.DeleteFunc(all, func(t taken) bool { return t.Until.Before(now) })
		if !slices.ContainsFunc(all, func(t taken) bool { return t.Gateway == gateway }) {
			all = append(all, taken{gateway, "", now, a.root.NotAfter}) // it has none, and gets none
		}
		if s.Revoked.IsZero() {
			s.Revoked = now
		}
		// The gateway is first: whatever ends this, it gets no other certificate.
		if err := writeJSON(a.file(gateway), s); err != nil {
			return err
		}
		if err := writeJSON(filepath.Join(a.dir, noteFile), all); err != nil {
			return err
		}
		return a.writeList(all)
	})
}

// noted are the certificates that were taken back.
func (a *Authority) noted() (all []taken, err error) {
	_, err = readJSON(filepath.Join(a.dir, noteFile), &all)
	return all, err
}

// writeList writes what brokers read. It never ends before the authority does: a broker
// refuses everybody by a list that has ended.
func (a *Authority) writeList(all []taken) error {
	now := a.now()
	list := &x509.RevocationList{Number: big.NewInt(now.UnixMilli()), ThisUpdate: now.Add(-backdated), NextUpdate: a.root.NotAfter}
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

// Revoked are the gateways that get no certificate before they are claimed again, and since when.
func (a *Authority) Revoked() (map[string]time.Time, error) {
	all, err := a.noted()
	if err != nil {
		return nil, err
	}
	since := map[string]time.Time{}
	for _, t := range all {
		if _, known := since[t.Gateway]; known {
			continue
		}
		s, _, err := a.read(t.Gateway)
		if err != nil {
			return nil, err
		}
		since[t.Gateway] = s.Revoked
	}
	maps.DeleteFunc(since, func(_ string, at time.Time) bool { return at.IsZero() })
	return since, nil
}
