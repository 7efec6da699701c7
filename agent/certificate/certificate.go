// Package certificate is a certificate with its key as the configuration names
// them: two PEM files that somebody else renews while the gateway runs, a step of
// a certificate authority's client or a person with a stick.
package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// LookEvery is how often the files are looked at for a renewed certificate.
const LookEvery = 30 * time.Second

// Pair is a certificate with its key. It may be used by many.
type Pair struct {
	key               string // in the configuration, as "http.tls"
	certFile, keyFile string
	now               atomic.Pointer[tls.Certificate]

	mu   sync.Mutex
	seen [2]stamp // of the files that now was read from
}

// stamp tells a file from the one that takes its place.
type stamp struct {
	changed time.Time
	size    int64
}

// Read reads the pair of PEM files that key of the configuration names. A private
// key that everybody on the machine may read is refused.
func Read(key, certFile, keyFile string) (*Pair, error) {
	p := &Pair{key: key, certFile: certFile, keyFile: keyFile}
	if _, err := p.Look(); err != nil {
		return nil, err
	}
	return p, nil
}

// Look reads the files again if they have changed, and says whether they have. If
// they cannot be used, what was read before goes on, and the next Look tries
// again: of two files one is renewed before the other.
func (p *Pair) Look() (changed bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, err := p.stamps()
	if err == nil && now == p.seen {
		return false, nil
	}
	if err == nil {
		err = Private(p.keyFile)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", p.key, err)
	}
	pair, err := ReadPair(p.certFile, p.keyFile)
	if err != nil {
		return false, fmt.Errorf("%s: %s with the key %s: %w", p.key, p.certFile, p.keyFile, err)
	}
	p.now.Store(&pair)
	p.seen = now
	return true, nil
}

func (p *Pair) stamps() (all [2]stamp, err error) {
	for i, file := range []string{p.certFile, p.keyFile} {
		info, err := os.Stat(file)
		if err != nil {
			return all, err
		}
		all[i] = stamp{info.ModTime(), info.Size()}
	}
	return all, nil
}

// ErrOpenKey is the error of a private key that everybody may read.
var ErrOpenKey = errors.New("everybody on this machine may read the private key")

// Private refuses a private key that others than its owner and its group may read
// or write.
func Private(keyFile string) error {
	info, err := os.Stat(keyFile)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return fmt.Errorf("%w %s (mode %04o): chmod 640 it, and if others use this machine get a new key with a new certificate",
			ErrOpenKey, keyFile, info.Mode().Perm())
	}
	return nil
}

// Current is the pair as it was last read.
func (p *Pair) Current() *tls.Certificate { return p.now.Load() }

// Serve is tls.Config.GetCertificate.
func (p *Pair) Serve(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.now.Load(), nil }

// Show is tls.Config.GetClientCertificate: it looks whether the certificate was
// renewed since the last connection.
func (p *Pair) Show(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	_, _ = p.Look() // the one before goes on
	return p.now.Load(), nil
}

// Clock says what time it is, and whether that is to be believed.
type Clock func() (now time.Time, trusted bool)

// Run takes a renewed certificate within LookEvery and says so, and warns of one
// that is over or not valid yet, until ctx ends.
func (p *Pair) Run(ctx context.Context, clock Clock, log *slog.Logger) error {
	look := time.NewTicker(LookEvery)
	defer look.Stop()
	wrong, trouble := "", ""
	for {
		changed, err := p.Look()
		switch {
		case err != nil && err.Error() != trouble:
			trouble = err.Error()
			log.Error("a renewed certificate cannot be used, keeping the old one", "error", err)
		case changed:
			log.Info("a renewed certificate is used", "key", p.key, "until", p.Current().Leaf.NotAfter.UTC().Format(time.RFC3339))
		}
		if err == nil {
			trouble = ""
		}
		now, trusted := clock()
		if said := Judge(p.Current(), now, trusted); said != wrong {
			if wrong = said; wrong != "" {
				log.Warn("clients refuse the certificate", "key", p.key, "reason", wrong)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// Judge says what is wrong with a certificate's time, or "". A clock that is not
// believed is named, because then it may be the clock that is wrong.
func Judge(pair *tls.Certificate, now time.Time, trusted bool) (wrong string) {
	switch leaf := pair.Leaf; {
	case now.After(leaf.NotAfter):
		wrong = "it ended on " + leaf.NotAfter.UTC().Format(time.DateOnly) + ": renew it"
	case now.Before(leaf.NotBefore):
		wrong = "it is not valid before " + leaf.NotBefore.UTC().Format(time.DateOnly) + ": check the clock"
	}
	if wrong != "" && !trusted {
		wrong += "; the clock is not trusted and shows " + now.UTC().Format(time.DateOnly) + ", so it may be the clock that is wrong"
	}
	return wrong
}
