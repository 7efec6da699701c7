package tlsauthority

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"roomgate/agent/certificate"
)

// LookEvery is how often is looked whether the certificate is to be renewed, and
// whether there is another authority.
const LookEvery = time.Minute

// Options are what a Keeper is made of.
type Options struct {
	Data  string // the data folder
	Log   *slog.Logger
	Clock certificate.Clock
	Hosts func() Hosts // which the gateway has now; nil: Found
}

// Keeper keeps the gateway's certificate good while the gateway runs: it renews it
// before it ends and when the gateway has another address, and takes an authority
// that roomgate tls init has made meanwhile.
type Keeper struct {
	o         Options
	authority atomic.Pointer[Authority]
	now       atomic.Pointer[tls.Certificate]
}

// Open reads the authority and the certificate. A certificate that is over is
// served all the same: the gateway starts whatever its clock shows. One that
// cannot be read is made again.
func Open(_ context.Context, o Options) (*Keeper, error) {
	if o.Hosts == nil {
		o.Hosts = Found
	}
	k := &Keeper{o: o}
	if err := k.look(); k.now.Load() == nil {
		return nil, err
	}
	return k, nil // what Run says again
}

// look reads the authority, and renews the certificate if it is due.
func (k *Keeper) look() error {
	a, err := Load(k.o.Data)
	if err != nil {
		return err
	}
	k.authority.Store(a)
	now, trusted := k.o.Clock()
	hosts := k.o.Hosts()
	pair, err := a.Certificate()
	why := ""
	if err != nil {
		why = err.Error()
	} else if why = a.due(pair.Leaf, hosts, now, trusted); why == "" {
		k.now.Store(pair)
		return nil
	}
	fresh, err := a.Issue(hosts, now)
	if fresh == nil {
		fresh = pair
	}
	if fresh != nil {
		k.now.Store(fresh)
	}
	if err != nil {
		return fmt.Errorf("the gateway's certificate is to be made again, because %s, and cannot be written: %w", why, err)
	}
	k.o.Log.Info("the gateway has another certificate of its own authority", "reason", why, "until", fresh.Leaf.NotAfter.Format(time.RFC3339))
	return nil
}

// due says why a certificate is to be made again, or "". A clock that is not
// trusted renews nothing: it would make certificates for its own wrong time.
func (a *Authority) due(leaf *x509.Certificate, hosts Hosts, now time.Time, trusted bool) string {
	if leaf.CheckSignatureFrom(a.issuer) != nil {
		return "it is of another authority"
	}
	if trusted {
		switch {
		case now.Before(leaf.NotBefore):
			return "it is not valid yet"
		case now.Add(RenewBefore).After(leaf.NotAfter) && leaf.NotAfter.Before(a.issuer.NotAfter):
			return "it ends on " + leaf.NotAfter.UTC().Format(time.DateOnly)
		}
	}
	in, _ := a.Limits().split(hosts)
	for _, name := range in.Names {
		if !slices.Contains(leaf.DNSNames, name) {
			return "the name " + name + " is not in it"
		}
	}
	for _, ip := range in.Addresses {
		if !slices.ContainsFunc(leaf.IPAddresses, func(known net.IP) bool { return known.Equal(ip.AsSlice()) }) {
			return "the address " + ip.String() + " is not in it"
		}
	}
	return ""
}

// Run keeps the certificate until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	next := time.NewTicker(LookEvery)
	defer next.Stop()
	wrong, trouble := "", ""
	for {
		if err := k.look(); err == nil {
			trouble = ""
		} else if err.Error() != trouble {
			trouble = err.Error()
			k.o.Log.Error("the building's own authority cannot be used, keeping the old certificate", "error", err)
		}
		now, trusted := k.o.Clock()
		if said := certificate.Judge(k.now.Load(), now, trusted); said != wrong {
			if wrong = said; wrong != "" {
				k.o.Log.Warn("clients refuse the certificate of the building's own authority", "reason", wrong)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
	}
}

// Serve is tls.Config.GetCertificate.
func (k *Keeper) Serve(*tls.ClientHelloInfo) (*tls.Certificate, error) { return k.now.Load(), nil }

// Root is the root certificate as PEM.
func (k *Keeper) Root() []byte { return k.authority.Load().Root() }
