package cloudlink

import (
	"context"
	"crypto/tls"
	"errors"
	"sync/atomic"
	"time"

	"roomgate/cloud"
)

// Identity is a certificate of the gateway's own, which it gets from its cloud, and the way
// to it.
type Identity interface {
	// Show is tls.Config.GetClientCertificate.
	Show(*tls.CertificateRequestInfo) (*tls.Certificate, error)
	// At is where the next connection goes, after what was last met.
	At(last cloud.Trouble) (url string)
	// Take takes what comes down to cloud.LevelEnrol.
	Take(ctx context.Context, e cloud.Envelope) error
	// Up follows each connection.
	Up()
	// Run gets and renews the certificate, until ctx ends.
	Run(ctx context.Context) error
	// Status is how the certificate is; nil: there is to be none.
	Status() *Certificate
}

// Certificate is how the gateway's own certificate is.
type Certificate struct {
	State       string    // for machines, as "good" or "revoked"
	From, Until time.Time // zero: there is none
	Seen        string    // for people
	Fix         string    // what to do about it; empty: nothing
}

// Certificate is how that of the gateway is; nil: there is to be none.
func (l *Link) Certificate() *Certificate {
	if !l.Configured() || l.o.Identity == nil { // there are no options before there is a link
		return nil
	}
	return l.o.Identity.Status()
}

// trySuffix is of a client id that is no gateway's: the connection of the gateway stays while
// another log-in is tried.
const trySuffix = "--try"

// Try logs in once at a broker with a certificate. asked says whether the broker wanted to see one.
func (l *Link) Try(ctx context.Context, url string, pair *tls.Certificate) (t cloud.Trouble, asked bool) {
	secure, err := TLS(l.o.Cloud)
	if err != nil {
		return cloud.Trouble{Cause: cloud.CauseMisconfigured, Error: err.Error()}, false
	}
	var wanted atomic.Bool
	secure.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		wanted.Store(true)
		if pair == nil {
			return nil, errors.New("there is no certificate that fits its key")
		}
		return pair, nil
	}
	t = cloud.Try(ctx, cloud.LinkOptions{URL: url, ClientID: cloud.ClientID(l.o.Gateway) + trySuffix, Login: l.o.Login, TLS: secure, Dial: l.o.Dial, Log: l.o.Log})
	return t, wanted.Load()
}

// identify lets the link show what the gateway gets from its cloud. A certificate that the
// configuration names goes before.
func (l *Link) identify(link *cloud.LinkOptions) {
	if l.o.Identity == nil {
		return
	}
	l.down[cloud.LevelEnrol] = l.o.Identity.Take
	if link.TLS.GetClientCertificate == nil {
		link.At, link.TLS.GetClientCertificate = l.o.Identity.At, l.o.Identity.Show
	}
}

// loops are those of the link itself.
func (l *Link) loops() []func(context.Context) error {
	all := []func(context.Context) error{l.link.Load().Run, l.uplink.Load().Run}
	if l.o.Identity != nil {
		all = append(all, l.o.Identity.Run)
	}
	return all
}
