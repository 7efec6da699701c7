package health

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"roomgate/agent/config"
)

// Endpoint is where something of the gateway is reached.
type Endpoint struct {
	TLS       bool     `json:"tls"`
	Port      int      `json:"port"`
	Addresses []string `json:"addresses"` // of the gateway's network interfaces
}

// Network is what an edge device needs to find its gateway.
type Network struct {
	HTTP Endpoint `json:"http"`
	// Broker is the room broker; null: there is none that is reached over the
	// network. Its users are named by the configuration.
	Broker *Endpoint `json:"broker"`
}

// Network returns where the gateway is reached.
func (m *Monitor) Network() Network { return NetworkOf(m.o.Config) }

// NetworkOf is where a gateway with a configuration is reached on this machine.
func NetworkOf(c *config.Config) Network {
	own := interfaceAddresses()
	n := Network{HTTP: endpoint(c.HTTP.Listen, own)}
	n.HTTP.TLS = !c.HTTP.TLS.Plain()
	if b := endpoint(c.Broker.Listen, own); c.Broker.Listen != "" && len(b.Addresses) > 0 {
		b.TLS = c.Broker.TLS.On()
		n.Broker = &b
	}
	return n
}

// endpoint is where an address to listen on is reached: at that address, or if
// it names none at all of the gateway's.
func endpoint(listen string, own []string) Endpoint {
	host, port, _ := net.SplitHostPort(listen)
	number, _ := strconv.Atoi(port) // the configuration was checked
	e := Endpoint{Port: number, Addresses: []string{}}
	address, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && address.IsUnspecified():
		e.Addresses = append(e.Addresses, own...)
	case host == "localhost" || err == nil && address.IsLoopback():
	default:
		e.Addresses = append(e.Addresses, host)
	}
	return e
}

// interfaceAddresses are the addresses that others may reach the gateway at.
func interfaceAddresses() (all []string) {
	known, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range known {
		prefix, err := netip.ParsePrefix(a.String())
		if ip := prefix.Addr(); err == nil && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
			all = append(all, ip.Unmap().String())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Page is the address of a page of the gateway on the building's network, empty
// if no other machine reaches it.
func (n Network) Page(path string) string {
	at := n.HTTP
	if len(at.Addresses) == 0 || at.Port == 0 {
		return ""
	}
	scheme := "http"
	if at.TLS {
		scheme = "https"
	}
	return scheme + "://" + at.Nearest() + path
}

// Nearest is host:port by which the building most likely reaches it; it has addresses.
func (e Endpoint) Nearest() string {
	return net.JoinHostPort(nearestAddress(e.Addresses), strconv.Itoa(e.Port))
}

// Base is where pages of the gateway are found: on the building's network, or if no other
// machine reaches it on this one. Empty: it serves no HTTP.
func (n Network) Base() string {
	base := n.Page("")
	switch {
	case n.HTTP.Port == 0:
		return ""
	case base == "" && n.HTTP.TLS:
		return fmt.Sprintf("https://127.0.0.1:%d", n.HTTP.Port)
	case base == "":
		return fmt.Sprintf("http://127.0.0.1:%d", n.HTTP.Port)
	}
	return base
}

// nearestAddress is the address that the building most likely reaches: the one
// that the way out begins at, else the first of version 4.
func nearestAddress(all []string) string {
	if conn, err := net.Dial("udp4", "192.0.2.1:9"); err == nil { // sends nothing (RFC 5737 section 3)
		own, _, _ := net.SplitHostPort(conn.LocalAddr().String())
		_ = conn.Close() // nothing was said on it
		if slices.Contains(all, own) {
			return own
		}
	}
	for _, text := range all {
		if ip, err := netip.ParseAddr(text); err == nil && ip.Is4() {
			return text
		}
	}
	return all[0]
}
