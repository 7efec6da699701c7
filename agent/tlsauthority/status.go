package tlsauthority

import (
	"crypto/tls"
	"errors"
	"time"
)

// Status is an authority for those who look after it.
type Status struct {
	Root        string    `json:"root"` // the file
	Fingerprint string    `json:"fingerprint"`
	Names       []string  `json:"names"`     // which it may certify
	Addresses   []string  `json:"addresses"` // and networks
	Until       time.Time `json:"until"`
	// Certificate is the gateway's, null if it cannot be read; Trouble says why.
	Certificate *Certificate `json:"certificate"`
	Trouble     string       `json:"trouble,omitempty"`
	// Outside are names and addresses that the gateway has now and the authority
	// may not certify.
	Outside []string `json:"outside"`
}

// Certificate is the gateway's certificate.
type Certificate struct {
	Names     []string  `json:"names"`
	Addresses []string  `json:"addresses"`
	From      time.Time `json:"from"`
	Until     time.Time `json:"until"`
}

// Status says how the authority is, for a gateway that is reached as these hosts.
func (a *Authority) Status(hosts Hosts) Status {
	l := a.Limits()
	s := Status{Root: a.RootFile(), Fingerprint: a.Fingerprint(), Names: []string{}, Addresses: []string{}, Outside: []string{}, Until: a.Ends().UTC()}
	s.Names = append(s.Names, l.Names...)
	for _, p := range l.Addresses {
		text := p.String()
		if p.IsSingleIP() {
			text = p.Addr().String()
		}
		s.Addresses = append(s.Addresses, text)
	}
	_, out := l.split(hosts)
	s.Outside = append(s.Outside, out.Names...)
	for _, ip := range out.Addresses {
		s.Outside = append(s.Outside, ip.String())
	}
	pair, err := a.Certificate()
	if err == nil && pair.Leaf.CheckSignatureFrom(a.issuer) != nil {
		err = errors.New("the gateway's certificate is of another authority: a gateway that runs makes a new one within a minute")
	}
	if err != nil {
		s.Trouble = err.Error()
		return s
	}
	s.Certificate = shown(pair)
	return s
}

func shown(pair *tls.Certificate) *Certificate {
	c := &Certificate{Names: []string{}, Addresses: []string{}, From: pair.Leaf.NotBefore.UTC(), Until: pair.Leaf.NotAfter.UTC()}
	c.Names = append(c.Names, pair.Leaf.DNSNames...)
	for _, ip := range pair.Leaf.IPAddresses {
		c.Addresses = append(c.Addresses, ip.String())
	}
	return c
}
